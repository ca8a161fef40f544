"""What the papers say of their experiments."""

from dataclasses import dataclass

from tacit.reproduction.artefact import Settings, ours, paper

MOST_STARTS = 20
"""Random starts on a data set; on two points a network of ten neurons may well fit only one."""


@dataclass(frozen=True)
class PublishedSettings(Settings):
    """The papers' data and networks that `exact` and `global` share."""

    width: int = paper(100, "phuong2021 §5.1, lyu2021 App. J, sarussi2021 Fig. 4 and 8")
    phuong_n: int = paper(500, "phuong2021 §5.1")
    phuong_d: int = paper(20, "phuong2021 §5.1")
    phuong_factor: float = paper(0.05, "phuong2021 §5.1, on weights drawn as PyTorch does")
    lyu_n: int = paper(10, "lyu2021 Table 1, first row")
    lyu_d: int = paper(50, "lyu2021 App. J")
    lyu_factor: float = paper(0.001, "lyu2021 App. I.1.3 and J, on He's initialisation")
    lyu_alpha: float = ours(0.5, "α of lyu2021 Fig. 1; Table 1 gives none")
    sarussi_alpha: float = ours(0.5, "sarussi2021 gives none")
    sarussi_std: float = ours(1e-3, "the small scale of sarussi2021 Fig. 1; Fig. 4, 8 give none")
    wang_width: int = paper(10, "wang2022 App. F.1")
    wang_norm: float = ours(1e-3, "‖w_k‖ = |a_k| at the start; wang2022 gives none")
