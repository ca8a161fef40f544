"""Diversity of XORD points."""

import numpy as np

from tacit.data.xor import f_star, is_diverse
from tacit.geometry.predicate import Finding, NotDefined, View, predicate


@predicate("xord_diverse", "brutzkus2019 Definition 4.2")
def xord_diverse(view: View) -> Finding:
    """Every point is diverse: positive ones have all four patterns, negative ones p₂ and p₄."""
    X, y = view.data.X, view.data.y
    if not view.data.binary or X.shape[1] % 2 or not np.isin(X, (-1, 1)).all():
        raise NotDefined("speaks of XORD data: pairs of coordinates −1 or +1, labels ±1")
    if (f_star(X) != y).any():
        raise NotDefined("the labels are not those of XORD (a positive pattern appears)")
    diverse = int(is_diverse(X, y).sum())
    note = f"{diverse} of {view.data.n} points are diverse"
    return Finding(diverse == view.data.n, (diverse - view.data.n) / view.data.n, note)
