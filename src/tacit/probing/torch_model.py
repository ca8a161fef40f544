"""A PyTorch module as `probe` sees it: a copy in float64 and evaluation mode.

The copy makes it sure that nothing of the user's module changes: its mode, gradients, hooks and
buffers stay what they are, whenever an interrupt comes.
"""

from collections.abc import Collection, Iterator, Mapping
from copy import copy, deepcopy
from functools import partial
from typing import Any, Self

import numpy as np

from tacit.messages import count
from tacit.probing.differentiable import DenseLayer, Differentiable, as_rows, running
from tacit.probing.torch_operations import broken_operations
from tacit.values import BadInput
from tacit.values.optional import optional_import

WRAPPERS = {"OptimizedModule": "_orig_mod", "DataParallel": "module"}
WRAPPERS["DistributedDataParallel"] = "module"
"""Modules around a module, and where they keep it."""
RANDOM = "Dropout"


class TorchModel(Differentiable):
    """A copy of a module, with its trained tensors apart from it."""

    def __init__(self, model: Any, example: Any) -> None:
        self._torch = torch = optional_import("torch", "probe of a PyTorch model")
        while type(model).__name__ in WRAPPERS:
            model = getattr(model, WRAPPERS[type(model).__name__])
        self.name = type(model).__name__
        if isinstance(model, torch.jit.ScriptModule):
            raise BadInput("the model is a ScriptModule; give the nn.Module that it was made of")
        trained = _trained(model)
        try:
            with torch.no_grad():
                self._module = deepcopy(model)
        except Exception as error:  # of non-leaf tensors, open files, locks, …
            raise BadInput(
                f"{self.name} cannot be copied, and probe works on a copy: {error}"
            ) from error
        self.notes = _mode_notes(model)
        self._module.eval()
        self._module.requires_grad_(False)
        self._device = next(iter(trained.values())).device
        own = next(iter(trained.values())).dtype
        self._dtype = torch.float64
        if self._device.type == "mps" or not self._runs(example):
            self._dtype = own
            self.notes += (f"it does not run in float64 and was probed in {own}",)
        self._module.to(self._dtype)
        self.precision = float(torch.finfo(self._dtype).eps)
        tensors = dict(self._module.named_parameters())
        self._tensors = {name: tensors[name].detach() for name in trained}
        self.parameters = {name: self._array(one) for name, one in self._tensors.items()}
        self._one_by_one = False

    def _runs(self, example: Any) -> bool:
        self._module.to(self._dtype)
        try:
            self._call({}, self._batch(example))
        except BadInput:
            raise
        except Exception:
            return False
        return True

    def _array(self, tensor: Any) -> np.ndarray:
        return tensor.detach().to("cpu", self._torch.float64).numpy()

    def _batch(self, X: Any) -> Any:
        tensor = self._torch.as_tensor(X).detach().to(self._device)
        return tensor.to(self._dtype) if tensor.is_floating_point() else tensor

    def _call(self, tensors: dict[str, Any], X: Any) -> Any:
        attention = self._torch.nn.attention  # the fast kernels have no forward derivatives
        plain = attention.sdpa_kernel(attention.SDPBackend.MATH)
        with plain, self._torch.random.fork_rng(devices=[]):
            outputs = self._torch.func.functional_call(self._module, tensors, (X,))
        if not isinstance(outputs, self._torch.Tensor):
            kind = type(outputs).__name__
            raise BadInput(f"the model gives a {kind}; it must give one tensor of outputs")
        return outputs

    def outputs(self, X: Any) -> np.ndarray:
        with running(X), self._torch.no_grad():
            return as_rows(self._array(self._call(self._tensors, self._batch(X))), len(X))

    def along(self, X: Any, names: Collection[str]) -> np.ndarray:
        zeros = self._torch.zeros_like
        ways = {k: v if k in names else zeros(v) for k, v in self._tensors.items()}
        batch = self._batch(X)
        with running(X):
            try:
                slopes = self._torch.func.jvp(
                    lambda tensors: self._call(tensors, batch), (self._tensors,), (ways,)
                )[1]
            except (RuntimeError, NotImplementedError):
                slopes = self._slopes_by_gradients(batch, ways)
            return as_rows(self._array(slopes), len(X))

    def _slopes_by_gradients(self, batch: Any, ways: dict[str, Any]) -> Any:
        """Where an operation has no forward derivative: (uᵀJ)·way has the gradient J·way in u."""
        torch, names = self._torch, list(self._tensors)
        leaves = {name: self._tensors[name].clone().requires_grad_() for name in names}
        with torch.enable_grad():
            made = self._call(leaves, batch)
            u = torch.zeros_like(made, requires_grad=True)
            inputs = [leaves[name] for name in names]
            rows = torch.autograd.grad(made, inputs, u, create_graph=True, allow_unused=True)
            parts = [
                (row * ways[k]).sum() for k, row in zip(names, rows, strict=True) if row is not None
            ]
            return torch.autograd.grad(sum(parts), u)[0]

    def gradients(self, X: Any, C: np.ndarray) -> np.ndarray:
        func, weights = self._torch.func, self._batch(C)
        batch = self._batch(X)
        if not self._one_by_one:
            try:
                rows = func.vmap(func.grad(self._weighted), in_dims=(None, 0, 0))
                return self._rows(rows(self._tensors, batch[:, None], weights), len(X))
            except (RuntimeError, NotImplementedError, ValueError):
                self._one_by_one = True  # what vmap cannot do, a loop can
        with running(X):
            each = [
                self._rows(self._summed(batch[i : i + 1], weights[i : i + 1]), 1)
                for i in range(len(X))
            ]
        return np.concatenate(each)

    def combination(self, X: Any, C: np.ndarray) -> np.ndarray:
        with running(X):
            return self._rows(self._summed(self._batch(X), self._batch(C)), 1)[0]

    def _weighted(self, tensors: dict[str, Any], X: Any, C: Any) -> Any:
        return (self._call(tensors, X).reshape(C.shape) * C).sum()

    def _summed(self, X: Any, C: Any) -> dict[str, Any]:
        leaves = {k: v.clone().requires_grad_() for k, v in self._tensors.items()}
        with self._torch.enable_grad():
            total = self._weighted(leaves, X, C)
            parts = self._torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
        zeros = self._torch.zeros_like
        each = zip(leaves.items(), parts, strict=True)
        return {k: zeros(v) if part is None else part for (k, v), part in each}

    def _rows(self, gradient: dict[str, Any], b: int) -> np.ndarray:
        return np.hstack([self._array(gradient[name]).reshape(b, -1) for name in self._tensors])

    def times(self, factors: Mapping[str, float]) -> Self:
        other = copy(self)
        other._tensors = {k: factors.get(k, 1.0) * v for k, v in self._tensors.items()}
        other.parameters = {name: self._array(one) for name, one in other._tensors.items()}
        return other

    def dense_layers(self, batches: Iterator[Any]) -> list[DenseLayer]:
        torch, seen = self._torch, dict[str, _Units]()
        hooks = [
            module.register_forward_hook(_watching(seen, name))
            for name, module in self._module.named_modules()
            if isinstance(module, torch.nn.Linear)
        ]
        try:
            for X in batches:
                with running(X), torch.no_grad():
                    self._call(self._tensors, self._batch(X))
        finally:
            for hook in hooks:
                hook.remove()
        return [
            DenseLayer(
                name,
                self._array(one.weight),
                None if one.bias is None else self._array(one.bias),
                np.asarray(units.alive),
                units.agreement,
            )
            for name, units in seen.items()
            for one in (self._module.get_submodule(name),)
        ]

    def breaking(self, X: Any, tolerance: float) -> list[str]:
        dual, batch = self._torch.autograd.forward_ad, self._batch(X)
        with running(X), self._torch.no_grad(), dual.dual_level():
            tensors = {name: dual.make_dual(one, one) for name, one in self._tensors.items()}
            call = partial(self._call, tensors, batch)
            return broken_operations(self._module, call, tolerance)


class _Units:
    """What the units of a layer have done so far."""

    def __init__(self) -> None:
        self.alive: Any = False
        self._sum, self._examples = 0.0, 0

    def see(self, z: Any) -> None:
        active = z.detach().reshape(-1, z.shape[-1]) > 0
        self.alive = self.alive | active.any(dim=0).cpu().numpy()
        share = active.double().mean(dim=1)
        self._sum += float((share**2 + (1 - share) ** 2).sum())
        self._examples += len(active)

    @property
    def agreement(self) -> float:
        return self._sum / self._examples


def _watching(seen: dict[str, _Units], name: str) -> Any:
    def watch(module: Any, given: Any, z: Any) -> None:
        seen.setdefault(name, _Units()).see(z)

    return watch


def _trained(model: Any) -> dict[str, Any]:
    """The parameters that count: those with `requires_grad`, or all where none has it."""
    every = dict(model.named_parameters())
    for name, one in every.items():
        if "Uninitialized" in type(one).__name__:
            raise BadInput(f"parameter {name} has no shape yet; run the model on a batch first")
        if one.is_meta:
            raise BadInput(f"parameter {name} is on the device meta, where it has no values")
        if not one.is_floating_point():
            raise BadInput(f"parameter {name} holds {one.dtype}; real numbers are needed")
        if not one.isfinite().all():
            raise BadInput(f"parameter {name} holds NaN or infinite entries; it cannot be probed")
    if not every:
        raise BadInput(f"{type(model).__name__} has no parameters, so there is nothing to probe")
    return {name: one for name, one in every.items() if one.requires_grad} or every


def _mode_notes(model: Any) -> tuple[str, ...]:
    """What evaluation mode changes of a model that is in training mode."""
    changed = [
        f"{type(module).__name__} in {name}"
        for name, module in model.named_modules()
        if module.training and (RANDOM in type(module).__name__ or hasattr(module, "running_mean"))
    ]
    frozen = sum(not one.requires_grad for one in model.parameters())
    notes = []
    if changed:
        notes.append(
            "the model is in training mode; it was probed as model.eval() computes it, which "
            f"matters for {', '.join(changed[:3])}{', …' if len(changed) > 3 else ''}"
        )
    if 0 < frozen < len(list(model.parameters())):
        notes.append(f"{count(frozen, 'frozen tensor')} of parameters count as constants")
    return tuple(notes)
