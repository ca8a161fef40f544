"""Why do larger models generalize better? The paper's figures and its two probabilities.

The paper counts channels, c = 2k: k filters w with output weight +1 and k filters u with −1. A
network (2) sees of a point only which of the four patterns it contains (App. C.1), so there are 15
kinds of points. With one point of each kind the test error of a network is computed exactly, for
any d and any distribution.
"""

from tacit.reproduction.artefact import Paper

PAPER = Paper(
    "brutzkus2019",
    fig1="fig1",
    fig2="fig2",
    fig3="fig3",
    fig4="fig4",
    fig5="fig5",
    fig6="fig6",
    fig7="fig7",
    fig8="fig8",
    thm34="thm34",
    thm64="thm64",
    thm65="thm65",
)
