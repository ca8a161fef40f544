"""How gradient flow ends."""

from tacit.values.status import Status


class Outcome(Status):
    """What the end of a path is. Only `proved` and `converged` claim a limit."""

    PROVED = (
        "proved",
        "The margin of the limit is proved: from the weights at the end of the path on, gradient "
        "flow can only end between two bounds that all but agree.",
    )
    CONVERGED = (
        "converged",
        "The direction of the weights converges to a KKT point of the max-margin problem.",
    )
    PARTIAL = (
        "partial",
        "No neuron is active on some samples: the output stays 0 there, and the rest is fitted "
        "with ever larger weights.",
    )
    STUCK = "stuck", "The flow is at rest at a positive loss."
    DEAD = "dead", "All neurons are inactive on every sample, so nothing moves."
    BRANCHED = "branched", "More than one solution of the flow leads on from a point of the path."
    UNDECIDED = (
        "undecided",
        "The path was not followed far enough to say where it leads; more seconds, or a smaller "
        "`log10_loss`, may decide it.",
    )

    @property
    def settled(self) -> bool:
        """Whether a limit is claimed."""
        return self in (Outcome.PROVED, Outcome.CONVERGED)
