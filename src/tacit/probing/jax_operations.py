"""Which operations of a JAX function break Euler's identity, and in which line of its code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tacit._jax import float64
from tacit.probing.jax_programs import Pair, bound, interpreted
from tacit.probing.operations import in_words, mended_degree, nearest_degree

LIBRARIES = ("site-packages", "dist-packages", "lib/python3", "<frozen")
"""In the paths of files that are not the user's."""
HERE = str(Path(__file__).parent)


def broken_operations(
    f: Callable[[list[Any], Any], Any], leaves: list[Any], X: np.ndarray, tolerance: float
) -> list[str]:
    """Those of f(leaves, X), in words."""
    words: dict[str, None] = {}

    def compute(eqn: Any, given: list[Pair], inside: str) -> list[Pair]:
        degrees = [_degree(one) for one in given if _is_real(one[0])]
        made = _with_slopes(jax, eqn, given)
        if any(error > tolerance for _, error in degrees):
            return made
        for k, one in enumerate(made):
            degree, error = _degree(one)
            if error > tolerance:
                place = _place(eqn) or (f" in {inside.strip('_')}" if inside else "")
                words.setdefault(in_words(eqn.primitive.name, place, [d for d, _ in degrees]))
                made[k] = one[0], mended_degree(degree) * one[0]
        return made

    with float64() as jax:
        closed = jax.make_jaxpr(f)(leaves, X)
        given = [*((leaf, leaf) for leaf in leaves), (X, None)]
        interpreted(closed.jaxpr, closed.consts, given, compute)
    return list(words)


def _is_real(array: Any) -> bool:
    return bool(np.issubdtype(getattr(array, "dtype", np.asarray(array).dtype), np.floating))


def _degree(one: Pair) -> tuple[float, float]:
    if one[1] is None:
        return 0.0, 0.0
    return nearest_degree(np.asarray(one[0]), np.asarray(one[1]))


def _with_slopes(jax: Any, eqn: Any, given: list[Pair]) -> list[Pair]:
    """The outputs and their derivatives along θ; None for those that do not depend on it."""
    arrays, slopes = [array for array, _ in given], [slope for _, slope in given]
    moving = [k for k, slope in enumerate(slopes) if slope is not None]
    apply = bound(eqn)
    if not moving:
        return [(array, None) for array in apply(*arrays)]

    def of_moving(*moved: Any) -> list[Any]:
        whole = list(arrays)
        for k, array in zip(moving, moved, strict=True):
            whole[k] = array
        return apply(*whole)

    made, ways = jax.jvp(of_moving, *(tuple(side[k] for k in moving) for side in (arrays, slopes)))
    pairs = zip(made, ways, strict=True)
    return [(array, slope if _is_real(array) else None) for array, slope in pairs]


def _place(eqn: Any) -> str:
    """The line of the user's code that asked for it, where JAX has kept that."""
    frames = getattr(getattr(eqn.source_info, "traceback", None), "frames", ())
    for frame in frames:  # the innermost first
        if frame.file_name.startswith(HERE):
            break
        if not any(part in frame.file_name for part in LIBRARIES):
            return f" at {Path(frame.file_name).name}:{frame.line_num}"
    return ""
