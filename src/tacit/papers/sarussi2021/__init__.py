"""Towards Understanding Learning in Neural Networks with Linear Teachers."""

BIBTEX = """\
@inproceedings{sarussi2021,
  title     = {Towards Understanding Learning in Neural Networks with Linear Teachers},
  author    = {Sarussi, Roei and Brutzkus, Alon and Globerson, Amir},
  booktitle = {International Conference on Machine Learning (ICML)},
  year      = {2021}
}"""
