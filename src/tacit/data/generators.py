"""Generators by name: `orthogonal:n=500,d=20,seed=0` becomes a data set.

A generator is a function with typed keyword parameters that returns a `Dataset`; the decorator
`@generator(place)` makes it known by its function name. `place` names the paper and the part of it
that the data is for. Whatever the paper leaves open is a parameter whose default the docstring
calls ours.
"""

import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tacit.messages import near_miss, require
from tacit.values import BadInput, Dataset

MOST_ENTRIES = 100_000_000
"""A generated X may hold this many numbers (0.8 GB); more is refused before it is allocated."""


@dataclass(frozen=True)
class Generator:
    """A registered function that makes data, and the paper it is for."""

    name: str
    make: Callable[..., Dataset]
    place: str

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The default of every parameter, by name."""
        return {p.name: p.default for p in inspect.signature(self.make).parameters.values()}

    def __call__(self, **given: Any) -> Dataset:
        parameters = {**self.parameters, **given}
        _check_sizes(self.name, parameters)
        data = self.make(**parameters)
        # What the generator found out itself (say, a default it computed) wins over what was asked.
        said = {"generator": self.name, **parameters, **data.parameters}
        return replace(data, name=self.name, parameters=said)


GENERATORS: dict[str, Generator] = {}


def generator(place: str) -> Callable[[Callable[..., Dataset]], Callable[..., Dataset]]:
    """Register the decorated function under its own name."""

    def register(make: Callable[..., Dataset]) -> Callable[..., Dataset]:
        name = make.__name__
        assert name not in GENERATORS, f"there is a generator '{name}' already"
        GENERATORS[name] = Generator(name, make, place)
        return make

    return register


def generate(call: str) -> Dataset:
    """The data set of a call such as `orthogonal:n=500,d=20,seed=0`."""
    name, _, arguments = call.partition(":")
    if name not in GENERATORS:
        raise BadInput(f"unknown generator '{name}'{near_miss(name, GENERATORS)}")
    chosen = GENERATORS[name]
    hints = typing.get_type_hints(chosen.make)
    given: dict[str, Any] = {}
    for part in filter(None, arguments.split(",")):
        key, equals, text = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise BadInput(f"'{part}' in '{call}' is not of the form parameter=value")
        if key not in chosen.parameters:
            raise BadInput(
                f"generator '{name}' has no parameter '{key}'{near_miss(key, chosen.parameters)}"
            )
        if key in given:
            raise BadInput(f"'{call}' gives '{key}' twice")
        given[key] = _value(name, key, text, hints[key])
    return chosen(**given)


def _value(name: str, key: str, text: str, hint: Any) -> Any:
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if text.lower() in ("none", "auto") and type(None) in kinds:
        return None
    kind = next(k for k in kinds if k is not type(None))
    if kind is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
    else:
        try:
            return kind(text)
        except ValueError:
            pass
    words = {int: "a whole number", float: "a number", bool: "true or false"}
    raise BadInput(f"{name}: {key}={text} is not {words[kind]}")


def _check_sizes(name: str, parameters: dict[str, Any]) -> None:
    for key, value in parameters.items():
        if isinstance(value, float) and not abs(value) < float("inf"):
            raise BadInput(f"{name}: {key}={value} is not a finite number")
    for key in ("n", "d"):
        value = parameters.get(key)
        require(value is None or value >= 1, f"{name}: {key}={value} must be at least 1")
    for key in ("seed", "test"):
        value = parameters.get(key)
        if isinstance(value, int):
            require(value >= 0, f"{name}: {key}={value} must not be negative")
    n = (parameters.get("n") or 1) + (parameters.get("test") or 0)
    d = parameters.get("d") or 1
    require(
        n * d <= MOST_ENTRIES,
        f"{name}: {n} points times d={d} is more than {MOST_ENTRIES:,} numbers; "
        "choose them smaller",
    )
