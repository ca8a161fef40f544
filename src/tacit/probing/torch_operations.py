"""Which operations of a PyTorch module break Euler's identity: each is asked as it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tacit.probing.operations import in_words, mended_degree, nearest_degree, plain_name
from tacit.values.optional import optional_import

LIBRARY = "torch.nn."
"""Parts from here are named by their class, the others by the operation that they call."""


def broken_operations(module: Any, call: Callable[[], Any], tolerance: float) -> list[str]:
    """Those of `call()`, which runs the module with dual numbers whose slope is along θ."""
    torch = optional_import("torch", "probe of a PyTorch model")
    words: dict[str, None] = {}
    names = {one: name for name, one in module.named_modules()}

    def looked_at(values: Any) -> list[tuple[float, float]]:
        leaves = torch.utils._pytree.tree_leaves(values)
        return [_degree(torch, one) for one in leaves if _is_real(torch, one)]

    with _parts_that_run(module) as running:

        class Looking(torch.overrides.TorchFunctionMode):  # type: ignore[name-defined]
            def __torch_function__(self, f: Any, _: Any, args: Any = (), named: Any = None) -> Any:
                given = looked_at((args, named))
                if _is_sum(f):
                    given += [(0.0, 0.0) for one in args if isinstance(one, int | float)]
                made = f(*args, **(named or {}))
                if any(error > tolerance for _, error in given):
                    return made
                if all(error <= tolerance for _, error in looked_at(made)):
                    return made
                degrees = [degree for degree, _ in given]
                words.setdefault(_named(f, running[-1], names, degrees))
                inplace = bool(args) and made is args[0]
                mend = torch.utils._pytree.tree_map
                return made if inplace else mend(lambda one: _mended(torch, one), made)

        with Looking():
            try:
                call()
            except (RuntimeError, NotImplementedError):  # it has run before, without slopes
                place = names.get(running[-1]) or type(module).__name__
                words.setdefault(f"perhaps something in {place} that has no forward derivative")
    return list(words)


@contextmanager
def _parts_that_run(module: Any) -> Iterator[list[Any]]:
    """The modules whose code runs, the innermost last."""
    running = [module]

    def leave(*given: Any) -> None:
        running.pop()

    hooks = []
    for one in module.modules():
        hooks.append(one.register_forward_pre_hook(lambda part, given: running.append(part)))
        hooks.append(one.register_forward_hook(leave))
    try:
        yield running
    finally:
        for hook in hooks:
            hook.remove()


def _is_sum(f: Any) -> bool:
    return plain_name(f.__name__) in ("add", "sub")


def _is_real(torch: Any, one: Any) -> bool:
    return isinstance(one, torch.Tensor) and one.is_floating_point()


def _degree(torch: Any, one: Any) -> tuple[float, float]:
    value, slope = torch.autograd.forward_ad.unpack_dual(one)
    if slope is None:
        return 0.0, 0.0
    arrays = (part.detach().to("cpu", torch.float64).numpy() for part in (value, slope))
    return nearest_degree(*arrays)


def _mended(torch: Any, one: Any) -> Any:
    if not _is_real(torch, one):
        return one
    value = torch.autograd.forward_ad.unpack_dual(one).primal
    degree, _ = _degree(torch, one)
    return torch.autograd.forward_ad.make_dual(value, mended_degree(degree) * value)


def _named(f: Any, part: Any, names: dict[Any, str], degrees: list[float]) -> str:
    name = names.get(part)
    if name and type(part).__module__.startswith(LIBRARY) and not list(part.children()):
        return f"{type(part).__name__} in {name}"
    return in_words(f.__name__, f" in {name}" if name else "", degrees)
