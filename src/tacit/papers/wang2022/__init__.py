"""The Convex Geometry of Backpropagation."""

BIBTEX = """\
@inproceedings{wang2022,
  title     = {The Convex Geometry of Backpropagation: Neural Network Gradient Flows Converge
               to Extreme Points of the Dual Convex Program},
  author    = {Wang, Yifei and Pilanci, Mert},
  booktitle = {International Conference on Learning Representations (ICLR)},
  year      = {2022}
}"""
