"""What a page is told first: the data it begins with, and what can be chosen."""

from typing import Any

from tacit.data.generators import GENERATORS
from tacit.lab.requests import FROM_DISK, SETTING, STARTS, Request


def hello(points: dict[str, Any], request: Request) -> dict[str, Any]:
    """The first message, with the setting and the seed of a request."""
    setting = request.setting.to_dict()
    return {
        "is": "hello",
        "generators": [
            {
                "name": one.name,
                "place": one.place,
                "summary": one.summary,
                "with": _said(one.parameters),
            }
            for one in GENERATORS.values()
            if one.name not in FROM_DISK
        ],
        "starts": list(STARTS),
        "setting": {key: setting[key] for key in sorted(SETTING)},
        "seed": request.seed,
        "points": points,
    }


def _said(parameters: dict[str, Any]) -> str:
    """The parameters of a generator with their defaults, as they are written in a call.

    A page shows two classes, and is quick with few points in few dimensions.
    """
    known = {key: value for key, value in parameters.items() if value not in (None, "")}
    known |= {"n": min(known["n"], 40)} if "n" in known else {}
    known |= {"d": 2} if known.get("d", 0) in (20, 50) else {}
    if "classes" in parameters:
        known |= {"classes": 2} if parameters["classes"] else {"classes": "0/1", "n": 60}
    return ",".join(f"{key}={value}" for key, value in known.items() if key != "test")
