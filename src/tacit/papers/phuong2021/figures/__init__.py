"""The figures of phuong2021, The inductive bias of ReLU networks on orthogonally separable data.

Two-layer and residual networks on synthetic data (§5), a convolutional network on MNIST (App. D),
and the probability of Theorem 1. The paper says neither what the initial weights are before they
are multiplied by 0.05, nor whether the loss of a batch is its sum (3) or its mean. Ours are the
defaults of PyTorch: uniform in ±1/√fan_in, and the mean.
"""

from tacit.reproduction.artefact import Paper

PAPER = Paper(
    "phuong2021",
    fig1="two_layers",
    fig2="residual_network",
    prob="survival",
    fig3="class_similarity",
    fig4="dense_layer",
)
