"""How to cite the papers, by the key that theorem ids begin with."""

from __future__ import annotations

BIBTEX: dict[str, str] = {
    "sarussi2021": """\
@inproceedings{sarussi2021,
  title     = {Towards Understanding Learning in Neural Networks with Linear Teachers},
  author    = {Sarussi, Roei and Brutzkus, Alon and Globerson, Amir},
  booktitle = {International Conference on Machine Learning (ICML)},
  year      = {2021}
}""",
    "phuong2021": """\
@inproceedings{phuong2021,
  title     = {The Inductive Bias of {ReLU} Networks on Orthogonally Separable Data},
  author    = {Phuong, Mary and Lampert, Christoph H.},
  booktitle = {International Conference on Learning Representations (ICLR)},
  year      = {2021}
}""",
    "lyu2021": """\
@inproceedings{lyu2021,
  title     = {Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias},
  author    = {Lyu, Kaifeng and Li, Zhiyuan and Wang, Runzhe and Arora, Sanjeev},
  booktitle = {Advances in Neural Information Processing Systems (NeurIPS)},
  year      = {2021}
}""",
    "brutzkus2019": """\
@inproceedings{brutzkus2019,
  title     = {Why do Larger Models Generalize Better? {A} Theoretical Perspective via the
               {XOR} Problem},
  author    = {Brutzkus, Alon and Globerson, Amir},
  booktitle = {International Conference on Machine Learning (ICML)},
  year      = {2019}
}""",
    "wang2022": """\
@inproceedings{wang2022,
  title     = {The Convex Geometry of Backpropagation: Neural Network Gradient Flows Converge
               to Extreme Points of the Dual Convex Program},
  author    = {Wang, Yifei and Pilanci, Mert},
  booktitle = {International Conference on Learning Representations (ICLR)},
  year      = {2022}
}""",
}
