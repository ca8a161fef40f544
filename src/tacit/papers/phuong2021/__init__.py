"""The Inductive Bias of ReLU Networks on Orthogonally Separable Data."""

BIBTEX = """\
@inproceedings{phuong2021,
  title     = {The Inductive Bias of {ReLU} Networks on Orthogonally Separable Data},
  author    = {Phuong, Mary and Lampert, Christoph H.},
  booktitle = {International Conference on Learning Representations (ICLR)},
  year      = {2021}
}"""
