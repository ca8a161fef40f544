"""Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias."""

BIBTEX = """\
@inproceedings{lyu2021,
  title     = {Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias},
  author    = {Lyu, Kaifeng and Li, Zhiyuan and Wang, Runzhe and Arora, Sanjeev},
  booktitle = {Advances in Neural Information Processing Systems (NeurIPS)},
  year      = {2021}
}"""
