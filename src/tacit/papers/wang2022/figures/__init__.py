"""The figures and numbers of wang2022, The convex geometry of backpropagation.

Figures 1 to 10 show two points in the plane: a neuron u of length 1 is a point on the circle, and
its activations on the data, (Xu)₊, are a point of the plane too. Two artefacts are ours: runs with
three classes, on which the paper has a theorem and no experiment, and why that theorem fails.
"""

from tacit.reproduction.artefact import Paper

PAPER = Paper(
    "wang2022",
    fig1="extreme_points",
    fig2="polar_set",
    fig3="trajectories",
    fig4="trajectories",
    fig5="overview",
    fig6="ellipsoids",
    fig7="initialisations",
    fig8="ellipsoids",
    fig9="extreme_points",
    fig10="initialisations",
    numbers="optimal_neurons",
    three_classes="three_classes",
    thm2="counterexample",
)
