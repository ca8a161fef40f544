"""The program that JAX makes of a function, computed one operation at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Pair: TypeAlias = tuple[Any, Any]
"""An array, and what is known of it; None for constants."""
Compute: TypeAlias = Callable[[Any, list[Pair], str], list[Pair]]
INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr")
"""Where an operation that calls a program keeps it."""
LOOPS = ("scan", "while", "cond")
"""Operations that call programs as often as they like; they count as one."""


def interpreted(
    jaxpr: Any, consts: Any, given: Sequence[Pair], compute: Compute, inside: str = ""
) -> list[Pair]:
    """The outputs, where `compute(equation, inputs, inside)` makes the outputs of one operation.

    `inside` is the function that was compiled and is called here, where it has a name.
    """
    known: dict[Any, Pair] = dict(zip(jaxpr.invars, given, strict=True))
    known.update((name, (array, None)) for name, array in zip(jaxpr.constvars, consts, strict=True))

    def pair(one: Any) -> Pair:
        return (one.val, None) if hasattr(one, "val") else known[one]

    for eqn in jaxpr.eqns:
        inputs = [pair(one) for one in eqn.invars]
        inner = next((eqn.params[key] for key in INNER if key in eqn.params), None)
        if inner is None or eqn.primitive.name in LOOPS:
            made = compute(eqn, inputs, inside)
        else:
            program, consts_in = getattr(inner, "jaxpr", inner), getattr(inner, "consts", ())
            made = interpreted(program, consts_in, inputs, compute, eqn.params.get("name", inside))
        known.update(zip(eqn.outvars, made, strict=True))
    return [pair(one) for one in jaxpr.outvars]


def bound(eqn: Any) -> Callable[..., list[Any]]:
    """The operation as a function of its inputs."""
    params = eqn.primitive.get_bind_params(eqn.params)
    functions, options = params if isinstance(params, tuple) else ((), params)

    def apply(*inputs: Any) -> list[Any]:
        made = eqn.primitive.bind(*functions, *inputs, **options)
        return list(made) if eqn.primitive.multiple_results else [made]

    return apply
