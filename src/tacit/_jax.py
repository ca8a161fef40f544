"""JAX enters here: imported when it is first used, with float64 switched on before that.

Modules write `from tacit._jax import jax, jnp` at their top and stay quick to import; without
float64 every result would silently be rounded to 7 digits.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias


@cache
def _imported(name: str) -> ModuleType:
    library = import_module("jax")
    library.config.update("jax_enable_x64", True)
    if os.environ.get("JAX_PLATFORMS"):  # else JAX chooses one that works
        _check_platforms(library)
    return import_module(name)


def _check_platforms(library: ModuleType) -> None:
    """Refuse platforms in the environment that JAX would refuse in the middle of the work."""
    from tacit.messages import BadInput

    try:
        library.devices()
    except RuntimeError as error:
        reason = str(error).partition("\n")[0]
        raise BadInput(
            f"JAX_PLATFORMS={os.environ['JAX_PLATFORMS']} cannot be used: {reason}"
        ) from None


class _Lazy:
    """A module that is imported when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(_imported(self._name), name)
        setattr(self, name, value)  # so that this is asked once
        return value


if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
else:
    jax, jnp = _Lazy("jax"), _Lazy("jax.numpy")


@contextmanager
def float64() -> Iterator[ModuleType]:
    """JAX with float64 in this thread alone, for functions of people who may train in float32."""
    library = import_module("jax")
    if hasattr(library, "enable_x64"):
        switch = library.enable_x64
    else:  # before JAX 0.8
        switch = import_module("jax.experimental").enable_x64
    with switch(True):
        yield library


Function: TypeAlias = Callable[..., Any]


def jit(**options: Any) -> Callable[[Function], Function]:
    """Decorate with `jax.jit`, which is imported when the function is first called."""

    def decorate(function: Function) -> Function:
        compiled = cache(lambda: jax.jit(function, **options))

        @wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            return compiled()(*arguments, **keywords)

        return call

    return decorate


__all__ = ["float64", "jax", "jit", "jnp"]
