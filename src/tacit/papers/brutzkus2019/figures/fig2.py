"""Figure 2: on XOR a wide network explores and clusters, a small one misses points."""

from dataclasses import dataclass

from tacit.data import load
from tacit.papers.brutzkus2019.figures import PAPER
from tacit.papers.brutzkus2019.figures.plane_networks import (
    draw_before_and_after,
    small_xor_fails,
    train_xor,
    turned_from_own_point,
    widest_angle,
)
from tacit.papers.brutzkus2019.figures.seeds import network_seeds
from tacit.plot import new_figure
from tacit.reproduction.artefact import Exhibit, Settings, Tell, ours, paper
from tacit.reproduction.claims import STATED, at_least, at_most


@dataclass(frozen=True)
class Fig2(Settings):
    k: int = paper(50, "§3.4")
    small_k: int = paper(2, "§3.4")
    c_eta: float = ours(0.1, "η = c_η/k; §3.1 asks for c_η < ½")
    sigma_share: float = ours(1.0, "§3.1: σ = c_η/(16k^{3/2}) at most; share of it")
    iterations: int = ours(2000, "many times what is needed")
    runs: int = ours(2000, "small networks, for the probability")


@PAPER.artefact("fig2", "Figure 2, §3.4", Fig2, {"runs": 300})
def fig2(s: Fig2, tell: Tell) -> Exhibit:
    """XOR: a wide network explores and clusters, a small one misses points

    The filters w (blue) and u (red) of a wide network on the left, at the start and at the end;
    of a small one on the right. Dotted rays point to the four points. The wide network starts in
    all directions and ends with its filters around the four points. The small network that is
    shown is the first, by its seed, that ends at a local minimum, as the paper shows one.
    """
    tell(f"training {s.runs} networks of k = {s.small_k}")
    wide = train_xor(s.k, s.c_eta, s.iterations, network_seeds(s, 1), s.sigma_share)
    small = train_xor(s.small_k, s.c_eta, s.iterations, network_seeds(s, s.runs), s.sigma_share)
    xor = load("xor")
    margins, small_margins = (xor.y * many.outputs(xor.X) for many in (wide, small))
    errs = (small_margins <= 0).any(axis=1)
    shown = int(errs.argmax())  # the first of all where none errs
    figure, (panels,) = new_figure(1, 4, size=(16, 4.5))
    wide_end = "global minimum" if margins.min() >= 1 else "end"
    draw_before_and_after(panels[:2], "ab", wide, 0, wide_end)
    small_end = "local minimum" if errs[shown] else "end"
    draw_before_and_after(panels[2:], "cd", small, shown, small_end)
    turned = turned_from_own_point(wide).max()
    text = "largest angle in degrees of a filter of it from its point (arccos((1−2c)/(1+c)))"
    claims = (
        at_least(
            "global", f"k = {s.k} ends at a global minimum: min yᵢN(xᵢ)", margins.min(), 1, STATED
        ),
        at_most("clustered", text, turned, widest_angle(1, s.c_eta), STATED),
        small_xor_fails(s.small_k, errs),
    )
    arrays = {"large": wide.weights["W"][:, 0], "small": small.weights["W"][:, shown], "errs": errs}
    return Exhibit(claims, figure, arrays)
