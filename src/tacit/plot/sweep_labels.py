"""The columns of a sweep's table in words, for titles and axes."""

WORDS = {
    # what a plan sets
    "activation": "activation",
    "alpha": "slope α of the activation",
    "batch": "batch size",
    "epochs": "epochs",
    "init": "initialisation",
    "lr": "step size",
    "output_weight": "output weight",
    "rule": "training rule",
    "scale": "initial scale",
    "stop": "stop rules",
    "train": "trained layers",
    "width": "number of neurons",
    "data.d": "dimension of the data",
    "data.file": "data",
    "data.n": "number of points",
    "data.name": "data",
    # what training gives
    "epoch": "epochs until training ended",
    "outcome": "how training ended",
    "status": "runs done and failed",
    # measures
    "balance": "imbalance of the layers",
    "cluster_angle": "largest angle between neurons of one sign",
    "cluster_radius": "cluster radius of the neurons",
    "cluster_radius_relative": "relative cluster radius of the neurons",
    "disagreements": "points on which neurons of one sign differ",
    "log_loss": "natural logarithm of the loss",
    "margin": "normalised margin",
    "nar": "neural agreement β",
    "nonlinear_share": "share of points in the nonlinear region",
    "norm": "norm of the weights",
    "par": "perfect agreement β",
    "par_ratio_negative": "share of u neurons in perfect agreement",
    "par_ratio_positive": "share of w neurons in perfect agreement",
    "q_min": "smallest output margin",
    "train_error": "training error",
    # limits and certificates
    "certificate.margin": "margin of the trained network",
    "certificate.optimality": "certificate of the trained network",
    "limit.gap": "optimality gap of the limit",
    "limit.groups": "groups of neurons at the limit",
    "limit.log10_loss": "log₁₀ of the loss at the end of the flow",
    "limit.margin": "margin of the limit",
    "limit.optimal_margin": "widest margin of all networks",
    "limit.optimality": "certificate of the limit",
    "limit.outcome": "how gradient flow ends",
    "limit.rate": "rate at which the limit is approached",
}
OWNERS = {"data": "of the data", "limit": "of the limit", "certificate": "of the certificate"}


def in_words(column: str) -> str:
    """What a column holds.

    Examples
    --------
    >>> in_words("width"), in_words("data.margin"), in_words("test_error")
    ('number of neurons', 'margin of the data', 'test error')
    """
    if column in WORDS:
        return WORDS[column]
    owner, _, name = column.partition(".")
    if owner in OWNERS and name:
        return f"{name.replace('_', ' ')} {OWNERS[owner]}"
    return column.replace("_", " ")


def as_title(column: str) -> str:
    """The words with a capital letter, for the beginning of a line."""
    words = in_words(column)
    return words[:1].upper() + words[1:] if column in WORDS else words
