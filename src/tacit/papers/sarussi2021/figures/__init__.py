"""Towards understanding learning in neural networks with linear teachers: the paper's figures.

The network is N(x) = v Σ σ(w⁽ⁱ⁾·x) − v Σ σ(u⁽ⁱ⁾·x) (1) with a fixed v and Leaky ReLU σ, trained by
SGD with batches of one and the logistic loss. The paper says neither v nor the slope α of σ. As N
depends on vW only, v·std and v²·η are what matters: another v is another std and another η.
"""

from tacit.reproduction.artefact import Paper

PAPER = Paper(
    "sarussi2021",
    fig1="fig1",
    fig2="fig2",
    fig3="fig3",
    fig4="fig4",
    fig5="fig5",
    fig6="fig6",
    fig7="fig7",
    fig8="fig8",
    fig9="fig9",
    thm41="thm41",
)
