"""The ways to train many networks, and which of them is taken.

A backend is a module with two functions, `suits(job)` and `train(job, members, trained)`, see
`tacit.training.backends.job.Backend`. All of them carry out `tacit.training.rules`. The fast ones
keep nothing of a network whose numbers stop being finite; so what diverges there is trained again
by a careful one, which keeps the weights of the last good epoch.

Except side by side on a GPU, a network's bits do not depend on what is trained beside it. (`blocks`
is none of these: it is a faster pass over the examples for each of them.)
"""

from tacit.training.backends import batched, cuda, one_by_one, side_by_side
from tacit.training.backends.job import Backend, Job, Trained

FAST: tuple[Backend, ...] = (cuda, batched)
CAREFUL: tuple[Backend, ...] = (side_by_side, one_by_one)


def train(job: Job) -> Trained:
    """Train all networks of a job by the first fast and the first careful way that suit it."""
    trained = Trained.nothing_of(job)
    for backends in (FAST, CAREFUL):
        backend = next((backend for backend in backends if backend.suits(job)), None)
        if backend is not None:
            backend.train(job, trained.left, trained)
    return trained
