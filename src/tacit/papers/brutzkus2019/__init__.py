"""Why do Larger Models Generalize Better? A Theoretical Perspective via the XOR Problem."""

BIBTEX = """\
@inproceedings{brutzkus2019,
  title     = {Why do Larger Models Generalize Better? {A} Theoretical Perspective via the
               {XOR} Problem},
  author    = {Brutzkus, Alon and Globerson, Amir},
  booktitle = {International Conference on Machine Learning (ICML)},
  year      = {2019}
}"""
