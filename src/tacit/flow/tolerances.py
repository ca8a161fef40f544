"""The tolerances of the flow, one frozen object for each algorithm, with the reason for each value.

Shares are relative to the size of what they are compared with, so that nothing here has a unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.numerics.float64 import LN10


@dataclass(frozen=True)
class StageTolerances:
    """One stage: neurons move in closed form between activation hyperplanes (`flow.stage`)."""

    on_plane: float = 1e-13
    """|e·w|/‖w‖ up to which a neuron lies on the hyperplane of e: some hundred rounding errors."""
    at_origin: float = 1e-9
    """A neuron that a stage shrinks to this share of its length has come to w = 0."""
    tie: float = 1e-10
    """Velocities up to this share of the pulls they are the sum of are 0: those of a face come
    from a least-squares solver, which is less exact than a sum."""
    still: float = 1e-14
    """Velocities up to this share are rounding: the neuron stays. Implicit steps lead to pulls far
    below `tie` when the flow comes to rest."""
    same_root: float = 1e-9
    """|e^τ − 1| up to which a root of the hyperbolic equation is the hyperplane just left."""
    most_turn: float = 100.0
    """The largest hyperbolic angle of a stage, so that cosh does not overflow: neurons grow by
    e^100 at most, beyond what they are divided by."""
    farthest: float = 300.0
    """The largest such angle at which a neuron may meet a hyperplane: 1e130 is more than the ratio
    of any two of its products."""
    most_events: int = 300
    """Events of one neuron in one stage; more mean that floating point cannot tell what happens."""
    events_in_stage: int = 1000
    """Events of one stage, and four more for each neuron; with more of them it is too long."""
    balanced: float = 1e-12
    """|w| − |a|, over |a|, up to which a neuron that shrinks along a line does so for ever."""
    dependent: float = 1e-10
    """A unit normal that is nearer than this to the span of others lies in it."""
    most_updates: int = 100
    """Hyperplanes that are taken from a factorised face before it is factorised anew: each time
    its rows are a rounding error less orthogonal."""
    piece: float = 1e8
    """Neurons times hyperplanes times dimensions that are moved without a look at the clock …"""
    halves: float = 4e6
    """… and from which on the neurons are moved in two halves, side by side: a stage takes some
    milliseconds then, and starting a thread a tenth of one."""


@dataclass(frozen=True)
class StepTolerances:
    """Explicit steps (`flow.steps`), implicit ones (`flow.implicit_steps`), and Newton's method."""

    newton: float = 1e-9
    """The error of log p at which Newton's method stops."""
    most_newton: int = 30
    """Points that Newton's method may look at."""
    patience: int = 7
    """Stages within which the error must halve, or the step is given up: those that are looked at
    along one of Newton's steps are among them."""
    costly: float = 1e5
    """Operations from which on the derivative of the margins takes longer than a stage …"""
    quick: float = 0.1
    """… and the factor by which the error must fall for Newton's method to go on with the one it
    has, …"""
    dear: float = 1e8
    """… but from so many operations on, where it takes as long as several stages, …"""
    slow: float = 0.5
    """… this one does."""
    linear: float = 0.1
    """Newton's method converges linearly where the error falls to more than this share twice …"""
    most_mixed: int = 4
    """… and then so many earlier iterations tell what the derivative misses, …"""
    most_share: float = 100.0
    """… if no share of them is larger: they say the same then."""
    far_total: float = 0.7
    """|log Σ p ρ|, which is 0 in the end, from which on p is scaled before a stage is made."""
    flat: float = 0.5
    """The bend of the loss below which it is flat: that of a sample that is not fitted …"""
    far_below: float = 0.5
    """… and how far below the margin that belongs to its p its own is then."""
    turning: int = 3
    """Newton iterations after which the rate at which p changes within the step is kept."""
    rise: float = 1.5
    """The factor by which the error may rise in one of Newton's steps: a step is too long where it
    rises more, …"""
    overshoot: float = 0.5
    """… or where more than this share of what a step was to mend is left on the other side: then
    its zero is looked for along the step …"""
    most_looks: int = 4
    """… at so many points."""
    light_answer: float = 1e-3
    """The least answer of a margin to its own p that is reckoned with, over the largest."""
    heavy: float = 1e-3
    """The largest entry of a column of Newton's matrix, less 1 on the diagonal, up to which a
    sample is left out of the linear system and put right by iterations …"""
    most_rounds: int = 8
    """… and how many of them: each leaves a hundredth of the error or so."""
    large: int = 200
    """Samples from which on the linear system is tried in Krylov's space first, …"""
    krylov: float = 1e-6
    """… to this share of its right-hand side, far less than one of Newton's steps leaves, …"""
    most_krylov: int = 60
    """… with so many products, which take half as long as elimination at 300 samples."""
    deep: float = 1e-7
    """The rounding error of the margins from which on p is integrated as a state: it would show in
    p = e^(−q)/L."""
    near: float = 0.03
    """The share of p by which that of Newton's method may differ from that of the margins: it is
    nearer to the truth where they answer fast."""
    filtered: float = -300.0
    """The log loss from which on the error of an implicit step is filtered: before, the margins
    answer too slowly to make up for much of it …"""
    unknown: float = 1e-3
    """The share of an error of p on samples of which it is not known how the margins answer, up to
    which the error is filtered."""
    light: float = -22.0
    """Samples with a smaller log p are not solved for: e^(−22) is below 3e-10 of the pull."""
    least_log: float = -80.0
    """The least log p that is kept apart from 0."""
    steady: float = 1e-7
    """When no neuron turns by more than this because p changes within a step, two stages do."""
    chance: float = 0.01
    """The least error of an explicit step, over that of a p that is taken to be linear, to the
    power 4/3, since it is of one order more. In ordinary steps it is 0.1 to 100 times that; where
    the p of a sample falls to nothing in a step, differences of p may be 0 by chance."""
    most_work: float = 5e7
    """Operations to which the derivative of the margins goes through events: some 20 ms."""
    most_bend: float = 10.0
    """The largest change of velocity, over the speed of approach, that the error of an event
    counts: neurons that graze a hyperplane would else make steps arbitrarily short."""


@dataclass(frozen=True)
class PathTolerances:
    """Following a path: errors of steps, and their lengths."""

    step: float = 1e-6
    """The error of an explicit step, relative to every neuron."""
    kink: float = 5e-6
    """The error of one neuron because it met a hyperplane a little too early or too late."""
    clock: float = 1e-6
    """The error of the time that an explicit step takes, relative to the time until then."""
    most_pieces: int = 60
    """Pieces on which the time of one step is integrated; the last one is 2^(−60) of it."""
    implicit: float = 2e-6
    """The error of an implicit step, times log(1/L) where that is above 1, relative to every
    neuron; one of a hundredth of the size of the largest may have ten times the error; …"""
    late: float = 1e-4
    """… it is at most this, …"""
    late_loss: float = -1000 * LN10
    """… and from this log loss on relative to the largest neuron: it decays while the network
    grows."""
    most_guess: float = 2.0
    """By how much log p is extrapolated at most when it is guessed."""
    most_growth: float = 1.0
    """No neuron grows by more than e^this in an explicit step."""
    late_growth: float = 0.35
    """The same for implicit steps: log L about doubles, so that the way there can be seen."""
    deep_growth: float = 3.0
    """The same where p is integrated as a state."""
    far_growth: float = 80.0
    """How much more or less than the whole network a neuron grows in a step, in the exponent, where
    the weights are divided by that growth; a stage ends at e^100 …"""
    farthest: float = 1e6
    """… and how much the network itself grows in one."""
    fall: float = 1e-6
    """The share by which the smoothed margin may fall then: some times by which the nearest samples
    differ."""
    rescale: float = 0.1
    """The logarithm of what the margins may be off by until the weights are rescaled again."""
    underflows: float = 1e-120
    """A neuron of this share of the largest is counted as less than one then, and made larger."""
    shortest: float = 1e-9
    """The shortest of these steps, times the speed of the fastest neuron: below it rounding hides
    the event that holds the step back."""
    tiny: float = 1e-12
    """Explicit steps, times the speed of the fastest neuron, below which no error is asked for:
    they could not be shortened in floating point."""
    after_failure: float = 0.5
    """The share of an implicit step that is tried when Newton's method does not find it …"""
    longer_after_failure: float = 1.5
    """… and by which the one after it may be longer; after a step whose error was too large, the
    next may not be."""
    longer: float = 3.0
    """By what an implicit step is longer than the last one at most."""
    aims: float = 0.85
    """The share of the step that would have the error that is allowed: most errors are those of
    events, which are there or not, and a step that is tried in vain takes as long as another."""
    most_failed: int = 6
    """Steps that may fail where p is integrated as a state; then the weights are rescaled, which
    needs half of the steps."""
    try_implicit: int = 20
    """Explicit steps limited by stability after which one as long as all of them is tried."""
    per_moment: float = 4.0
    """Time set aside for every moment, in evaluations of the margins: what is measured along the
    path when it has been followed is part of the time that was given."""
    merge_every: int = 8
    """Steps between two searches for aligned neurons."""
    aligned: float = 1e-9
    """The sine of the angle up to which neurons that grow count as aligned and are merged …"""
    equal: float = 1e-14
    """… and those that do not: their angle may grow, so they must be the same but for rounding."""
    balanced: float = 1e-12
    """|‖w‖² − a²| up to this share of ‖w‖² + a² is a balanced neuron."""
    negligible: float = 1e-6
    """Negligible-norm threshold: below this share of the largest neuron, |a| is set to ‖w‖."""
    shrunk: float = 1e-3
    """A balanced neuron that has shrunk to this share of its initial size would have passed 0 if
    its layers had differed by the square of it: no rest is claimed then."""
    dead: float = 1e-150
    """A neuron of this size is dead: its square would soon underflow."""
    fork: float = 1e-6
    """A sliding neuron this small, relative to the largest, has come to w = 0 or a = 0."""
    cancel: float = 1e-6
    """What the samples of a hyperplane must pull, over all samples, to be no rounding of a sum that
    cancels."""
    before_fork: float = 1e-2
    """Implicit steps that end for such a neuron at most this long, times the speed of the fastest:
    until then p stays about the same."""
    rise: float = 1e-9
    """The rise of log L, relative to 1 + |log L|, that is rounding; the flow never raises it."""


@dataclass(frozen=True)
class RestTolerances:
    """When the flow is at rest (`flow.rest`)."""

    slow: float = 1e-3
    """Pulls, over Σ p_i‖x_i‖, from which on it is worth while to look for a point of rest …"""
    every: float = 1.2
    """… again after this factor of steps, since looking takes longer than a step …"""
    every_small: float = 1.01
    """… or this one, where it does not: …"""
    small: int = 10**5
    """… up to so many samples times entries of W."""
    near: float = 1e-3
    """The largest change of a margin until the flow is at rest; to the loss 1 is a large change."""
    newton: float = 1e-13
    """Newton's method stops at steps of this size, relative to what they are projected from."""
    most_newton: int = 20
    """Newton iterations: near the minimum a handful do."""
    dependent: float = 1e-13
    """Singular values up to this share of the largest may be rounding; the exact rank tells."""
    rounding: float = 1e-12
    """Pulls up to this share of what they consist of are rounding."""
    loose: float = 1e-6
    """κ this near to its bound, relative to the width of its bounds, may be at it; the exact rank
    tells."""
    most_borders: int = 4
    """Rounds in which hyperplanes are collected that neurons may come to."""
    safety: float = 4.0
    """Margin for the rates of approach, which change a little on the way."""
    fitted: float = 1e-3
    """Samples with a smaller share of the heaviest pull are fitted, if their margins can grow …"""
    near_without: float = 1e-2
    """… and the largest change of a margin of the others then, which their pulls still cause."""
    quiet: float = 10.0
    """Samples that the patterns of this moment cannot fit end a path after the time has grown by
    this factor without an event."""
    faint: float = 1e-8
    """… and so do they where all pulls, over Σ p_i‖x_i‖, are as small as this: there neurons may go
    to and fro at a hyperplane for ever."""
    most_program: int = 10**5
    """The square of the number of samples in the linear program for it: some tenths of a second."""
    most_entries: int = 10**7
    """Entries of the matrix whose singular values are taken …"""
    most_work: int = 3 * 10**8
    """… and operations for its exact rank: about a second."""


@dataclass(frozen=True)
class BranchTolerances:
    """Whether the flow branches where a neuron starts or stops (`flow.branching`)."""

    around: float = 1e-9
    """The distance of the points around the neuron from it, relative to its size …"""
    away: float = 1e-3
    """… and how far they are followed."""
    points: int = 48
    """The number of points around it."""
    same: float = 0.999
    """The cosine from which on two of them go the same way."""
    near: float = 1e-6
    """The sine of the angle up to which a neuron leaves w = 0 along a hyperplane."""


@dataclass(frozen=True)
class CandidateTolerances:
    """The convex program of the surviving patterns (`flow.candidates`)."""

    dead: float = 1e-6
    """Groups of a smaller share of the heaviest are left out when Newton's method polishes."""
    none: float = 1e-9
    """Margins relative to Σ‖v_g‖ below this are the solver's error."""
    on_plane: float = 1e-7
    """The sine of the angle to a hyperplane below which a group touches it: the solver's error."""
    inside: float = 1e-10
    """How far a group is moved into its cell, where it may go on beyond a hyperplane."""
    same_unit: float = 10.0
    """The factor by which the best margin may differ from the one expected, or else it is solved
    for again in units of its own."""


@dataclass(frozen=True)
class EvidenceTolerances:
    """When the network that the patterns point to is claimed as the limit (docs/limit.md)."""

    stationary: float = 1e-9
    """KKT residuals: limits have about 1e-15, networks whose neurons have yet to change sides 1e-3
    and more."""
    negligible: float = 1e-6
    """Groups of a smaller share of the heaviest have died out."""
    near: float = 0.3
    """The angle (rad) to the limit at the end of the path: paths come near only like a power of
    log(1/L)."""
    rough: float = 1e-4
    """How far below the best the margin of a network may be that is only to be seen to be far …"""
    apart: float = 0.15
    """… by so much (rad) more than would be near. It is √rough from the best, or some times that
    where lengths make up for each other."""
    near_on_plane: float = 0.2
    """The same where a group of the limit touches a hyperplane along which it does not slide …"""
    deep: float = 4.0
    """… and the log₁₀ log₁₀(1/L) needed then: earlier the pattern may still change."""
    fall: float = 0.98
    """The factor by which the angle falls at least while log(1/L) grows by 10 …"""
    far_fall: float = 0.9
    """… or while log₁₀(1/L) grows from its square root, …"""
    far: float = 100.0
    """… if log₁₀ of that is at least this: nearly flat programs are approached like
    log(1/L)^(−0.001)."""
    resting: float = 1e-3
    """The angle (rad) at which rescaled weights may rest …"""
    far_rest: float = 0.1
    """… if they have come there from ten times as far, where patterns may have changed last."""
    rounding: float = 1e-6
    """Angles (rad) up to this need not fall: they are rounding."""
    turn: float = 30.0
    """By how much neurons that the limit leaves out grow, in the exponent, under its pulls until
    they have turned …"""
    rounds: int = 20
    """… and how often again, while they meet hyperplanes."""
    grows: float = 1e-6
    """The share by which neurons that the limit leaves out may grow faster than those it keeps."""


DEEPEST = {"both": -1e250, "first": -1e120}
"""log₁₀ losses further down than which squares of weights overflow; with a fixed output layer they
grow like log(1/L)."""
LOWEST = -1e251 * LN10
"""The log loss at which moments are shown that lie deeper."""
STAGE = StageTolerances()
STEP = StepTolerances()
PATH = PathTolerances()
SMALLER_STEPS = PathTolerances(
    step=3e-7, kink=1.5e-6, implicit=2e-7, late=1e-5, most_growth=0.7, late_growth=0.2
)
"""For a second computation: smaller errors of a step, and shorter steps where nothing else limits
them."""
REST = RestTolerances()
BRANCH = BranchTolerances()
CANDIDATE = CandidateTolerances()
EVIDENCE = EvidenceTolerances()
