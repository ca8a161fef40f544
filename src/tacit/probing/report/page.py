"""A probed network as one HTML page that needs nothing but itself."""

from base64 import b64encode

import tacit
from tacit.messages import printable
from tacit.pages import render
from tacit.plot import draw, new_figure, picture
from tacit.probing import Probed
from tacit.probing.probed import SHOWN


def page(probed: Probed) -> str:
    """Render the whole report; every text that came from outside is escaped."""
    figure, panels = new_figure(size=(9.0, 4.2))
    draw(probed, panels[0, 0])
    support = [] if probed.support is None else probed.to_dict()["kkt"]["largest"]
    return render(
        "tacit.probing.report",
        probed=probed,
        sentences=[printable(line) for line in probed.sentences],
        picture=b64encode(picture(figure, "svg")).decode(),
        support=support,
        most=SHOWN,
        version=tacit.__version__,
    )
