"""`tacit check`."""

from __future__ import annotations

from tacit.cli._app import DataOptions, app, print_json


@app.command
def check(
    data: str,
    /,
    *,
    options: DataOptions = DataOptions(),  # noqa: B008  (frozen)
    property: tuple[str, ...] = (),
    activation: str = "leaky:0.5",
    seed: int = 0,
    json: bool = False,
) -> int:
    """Geometry of the data: which assumptions of the theorems hold, and by how much.

    Parameters
    ----------
    data
        File or generator call.
    property
        Decide only this property, also where it takes long; may be repeated. Exit code 1 unless
        all of them hold.
    activation
        Slope of the Leaky ReLU, for the assumptions that mention one.
    seed
        Accepted by every command; nothing here is random.
    json
        One JSON object on standard output.
    """
    from tacit.cli import printing as show
    from tacit.geometry import check as geometry
    from tacit.models.activation import parse_activation

    alpha = parse_activation(activation).alpha
    found = geometry(options.load(data), property, alpha)
    if json:
        print_json(show.geometry_as_json(found))
    else:
        show.geometry(found)
    return int(any(found.properties[name].holds is not True for name in property))
