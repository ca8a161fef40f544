"""Messages that a page may send, and one open page without a browser."""

from __future__ import annotations

import json
from typing import Any

SETTING = {
    "activation": "relu",
    "train": "both",
    "width": 6,
    "init": "balanced:0.0001",
    "loss": "logistic",
    "output_weight": 1.0,
}
CASE: dict[str, Any] = {
    "points": [[1.0, 0.25], [0.5, 1.0], [-1.0, -0.5], [-0.25, -1.0]],
    "labels": [1, 1, -1, -1],
    "name": "four",
    "source": "",
    "bias": None,
    "setting": SETTING,
    "seed": 3,
}


def message(do: str = "run", **changes: Any) -> str:
    """A message that is right, but for the changes."""
    more: dict[str, Any] = {"dragging": False} if do == "check" else {}
    if do == "descend":
        more = {"lr": 0.1, "step": "scaled", "epochs": 50}
    return json.dumps({"id": 1, "do": do, **CASE, **more, **changes})
