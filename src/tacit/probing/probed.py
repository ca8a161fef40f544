"""What `tacit.probe` returns."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from tacit.certificates import Certificate, Optimum, certify, optimum
from tacit.explanation import Predictions, predict
from tacit.files import path_of, write_file
from tacit.flow import Limit, Limits, limit
from tacit.messages import printable
from tacit.probing.homogeneity import Homogeneity
from tacit.probing.layers import LayerMeasures
from tacit.probing.stationarity import Support
from tacit.values import BadInput, Dataset, Network, Result, Setting
from tacit.values.jsonable import plain
from tacit.values.optional import optional_import

LETTERS = 120
"""Letters of a line that a person reads."""
SHOWN = 50
"""Support examples in the JSON and on the page."""


@dataclass(frozen=True, eq=False, repr=False)
class Probed(Result):
    """What `tacit.probe` returns: what the theory of homogeneous networks says of a trained one.

    Attributes
    ----------
    homogeneity : Homogeneity
        Whether f(cθ) = c^L f(θ), by Euler's identity, and what breaks it.
    q : array of shape (n,)
        Each example's margin: y f, or its score less that of the best other class.
    margin, smoothed_margin : float
        q_min/‖θ‖^L, and the same of the margin at which one example alone would have the sum of
        all losses (cross-entropy), which is never larger; NaN where the network is not homogeneous.
    support : Support or None
        Examples that carry a multiplier λ, and the KKT residual; None where some example does not
        get its label.
    layers : tuple of LayerMeasures
        Every dense layer.
    network : Network or None
        The network where it has two layers, a bias of the first one folded in as the last
        coordinate; `certify`, `optimum`, `predict` and `limit` speak of it.
    certificate : Certificate or None
        Where the two-layer network stands among all networks.
    notes : tuple of str
        What should be known of how the model was evaluated.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> X, y = np.array([[1.0, 0.5], [-2.0, 1.0]]), [1, -1]
    >>> linear = tacit.probe((lambda w, x: w @ x, np.array([1.0, 0.0])), X, y)
    >>> linear.homogeneity.holds, linear.support.points.tolist()
    (True, [0, 1])
    """

    name: str
    classes: int
    parameters: int
    norm: float
    homogeneity: Homogeneity
    q: np.ndarray
    log_loss: float
    """The natural logarithm of the mean cross-entropy (logistic loss)."""
    margin: float
    smoothed_margin: float
    support: Support | None
    layers: tuple[LayerMeasures, ...]
    network: Network | None
    why_not_two_layer: str
    certificate: Certificate | None
    notes: tuple[str, ...]
    seconds: float
    data: Dataset | None = None
    """The data of `network`; it is not saved."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.q)

    @property
    def q_min(self) -> float:
        """The smallest margin."""
        return float(self.q.min())

    @property
    def errors(self) -> int:
        """Examples that do not get their label."""
        return int((self.q <= 0).sum())

    @property
    def residual(self) -> float:
        """The KKT residual, the larger of stationarity and complementarity; NaN where none is."""
        if self.support is None or not self.homogeneity.holds:
            return math.nan
        return max(self.support.stationarity, self.support.complementarity)

    def certify(self, seconds: float = 120.0) -> Certificate:
        """Where the two-layer network stands among all networks: `tacit.certify`."""
        data, network = self._two_layer()
        return certify(data, network, seconds=seconds)

    def optimum(self, seconds: float = 120.0) -> Optimum:
        """The network with the widest margin on its data: `tacit.optimum`."""
        data, _ = self._two_layer()
        return optimum(data, self._setting, seconds=seconds)

    def predict(self) -> Predictions:
        """Which theorems speak of its data: `tacit.predict`."""
        data, _ = self._two_layer()
        return predict(data, self._setting)

    def limit(self, seconds: float = 120.0) -> Limit | Limits:
        """The network that gradient flow leads to from here: `tacit.limit`."""
        data, network = self._two_layer()
        return limit(data, self._setting, start=network, seconds=seconds)

    @property
    def _setting(self) -> Setting:
        assert self.network is not None
        alpha = self.network.alpha
        activation = "relu" if alpha == 0 else f"leaky:{alpha!r}"
        return Setting(activation=activation, width=self.network.width)

    def _two_layer(self) -> tuple[Dataset, Network]:
        if self.network is None:
            raise BadInput(f"{self.name} is no two-layer network: {self.why_not_two_layer}")
        if self.data is None:
            raise BadInput(
                "a Probed that was loaded has no data; call tacit.certify(data, probed.network)"
            )
        return self.data, self.network

    @property
    def sentences(self) -> list[str]:
        """What was measured, a sentence each."""
        lines = [f"{self.homogeneity!r}"]
        if self.errors:
            lines.append(
                f"{self.errors:,} of {self.n:,} examples do not get their label (smallest margin "
                f"{self.q_min:.3g}), so there is no KKT residual yet"
            )
        elif self.homogeneity.holds:
            lines.append(
                f"normalised margin {self.margin:.4g}, smoothed {self.smoothed_margin:.4g} "
                f"(smallest margin {self.q_min:.4g})"
            )
        else:
            lines.append(f"smallest margin {self.q_min:.4g}; normalised, it would mean nothing")
        if self.support is not None:
            lines.append(self._residual_sentence(self.support))
        if self.certificate is not None:
            lines.append(f"two-layer network: {self._certified(self.certificate)}")
        return lines

    def _residual_sentence(self, support: Support) -> str:
        held = (
            f"{support.points.size:,} carry λ, of {support.candidates:,} with "
            f"q ≤ {1 + support.tau:.3g} q_min"
        )
        if not self.homogeneity.holds:
            return (
                f"θ is {support.stationarity:.2e} off the cone of gradients (no theorem says that "
                f"this falls); {held}"
            )
        return (
            f"KKT residual {self.residual:.2e} (stationarity {support.stationarity:.2e}, "
            f"complementarity {support.complementarity:.2e}); {held}"
        )

    @staticmethod
    def _certified(certificate: Certificate) -> str:
        lower, upper = certificate.margin_bounds
        if certificate.margin <= 0 or upper <= 0:
            return certificate.verdict
        least, most = max(1 - certificate.margin / lower, 0.0), certificate.shortfall
        short = f"between {least:.1%} and {most:.1%}" if least > 0 else f"at most {most:.1%}"
        if f"{least:.1%}" == f"{most:.1%}":
            short = f"{most:.1%}"
        return f"{short} short of the widest margin of all networks"

    def _lines(self) -> list[str]:
        about = (
            f"{self.name}: {self.parameters:,} parameters, {self.n:,} examples, "
            f"{self.classes} classes"
        )
        lines = (printable(line) for line in (about, *self.sentences))
        return [shorten(line, LETTERS, placeholder=" …") for line in lines]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the margins of all examples, as plain numbers, texts and lists."""
        homogeneity = asdict(self.homogeneity)
        return plain(
            {
                "model": self.name,
                "examples": self.n,
                "classes": self.classes,
                "parameters": self.parameters,
                "norm": self.norm,
                "homogeneity": {**homogeneity, "advice": self.homogeneity.advice},
                "errors": self.errors,
                "q_min": self.q_min,
                "margin": self.margin,
                "smoothed_margin": self.smoothed_margin,
                "log_loss": self.log_loss,
                "kkt": self._kkt_to_dict(),
                "layers": [asdict(layer) for layer in self.layers],
                "two_layer": {
                    "recognised": self.network is not None,
                    "reason": self.why_not_two_layer or None,
                    "certificate": self.certificate and self.certificate.to_dict(),
                },
                "notes": list(self.notes),
                "seconds": self.seconds,
            }
        )

    def _kkt_to_dict(self) -> dict[str, Any] | None:
        support = self.support
        if support is None:
            return None
        rows = zip(support.points, support.rivals, support.multipliers, strict=True)
        return {
            "stationarity": support.stationarity,
            "complementarity": support.complementarity,
            "residual": self.residual,
            "tau": support.tau,
            "candidates": support.candidates,
            "memory": support.memory,
            "support": len(support.points),
            "largest": [
                {"example": i, "against": None if k < 0 else k, "multiplier": lam, "q": self.q[i]}
                for i, k, lam in list(rows)[:SHOWN]
            ],
        }

    def to_frame(self, what: str = "layers") -> Any:
        """A table as a pandas DataFrame.

        Parameters
        ----------
        what : {"layers", "support", "parameters"}, default "layers"
            Dense layers; examples that carry a multiplier; tensors and their part in Euler's
            identity.
        """
        pandas = optional_import("pandas", "to_frame")
        if what == "layers":
            return pandas.DataFrame([asdict(layer) for layer in self.layers])
        if what == "parameters":
            return pandas.DataFrame([asdict(group) for group in self.homogeneity.groups])
        if what != "support":
            raise BadInput(f"`what={what!r}` must be 'layers', 'support' or 'parameters'")
        if self.support is None:
            return pandas.DataFrame(columns=["example", "against", "multiplier", "q"])
        points = self.support.points
        columns = points, self.support.rivals, self.support.multipliers, self.q[points]
        names = "example", "against", "multiplier", "q"
        return pandas.DataFrame(dict(zip(names, columns, strict=True)))

    @cached_property
    def html(self) -> str:
        """The report: one HTML page that needs nothing but itself."""
        # The report is drawn two layers above; this line is the one place that looks up there.
        return import_module("tacit.probing.report").page(self)

    def save(self, path: str | Path, force: bool = False) -> None:
        """Like `Result.save`, but a name that ends in .html gets the report page."""
        if path_of(path).suffix.lower() != ".html":
            return super().save(path, force)
        write_file(Path(path), self.html.encode(), force)

    def _to_save(self) -> Probed:
        return replace(self, data=None)
