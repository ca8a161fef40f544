"""The tolerances of the numerical algorithms, one frozen object for each, with the reasons.

Shares are relative to the size of what they are compared with. No tolerance here is believed by a
proof: bounds are computed from the rounding errors themselves (`float64`), and what a tolerance
lets pass is a proposal that is evaluated again.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchTolerances:
    """The rounds of the convex program (`convex_program`, `column_generation`)."""

    certified: float = 1e-8
    """A relative gap up to this is called `certified`; the rounds aim at a tenth of it."""
    most_rounds: int = 200
    """Rounds after which what has been proved is returned."""
    most_stalled: int = 4
    """Rounds in a row without progress after which the search ends …"""
    progress: float = 0.9
    """… where progress is a missing neuron, or a gap that falls by this factor."""
    coarse: float = 1e-5
    """The precision that the first restricted program is solved to: its answer soon changes."""
    fine: float = 1e-10
    """The precision at the end; `polish` does the rest."""
    ahead: float = 1e-3
    """The precision relative to what the last round still missed."""
    eager_cells: int = 4000
    """Arrangements up to this size are enumerated; with larger ones branch and bound is faster."""
    first_neurons: int = 20
    """Neurons of each sign to begin with …"""
    first_entries: int = 1000
    """… as long as they have no more weights than this."""
    first_points: int = 100
    """Points to begin with in many dimensions."""
    new_neurons: int = 30
    """Neurons of each sign that may join in one round: more make the program slow."""
    most_starts: int = 25
    """Climbs of each sign and kind of start in one round."""
    most_constraints: int = 10
    """Hyperplanes next to a neuron that it may not cross from the beginning."""
    most_idle: int = 5
    """Rounds without weight after which a neuron leaves."""
    hopeless: float = 1e-12
    """Margins below this share of the shortest point drown in the rounding errors of f(x_i)."""
    least_value: float = 1e-9
    """The least value of a round, relative to the last one's: the solver may report 0."""
    least_unit: float = 1e-3
    """The unit falls by this factor at most from one round to the next …"""
    far: float = 0.01
    """… and where it falls by more than this, the solver's error was too large for its answer."""
    noise: float = 1e-7
    """What the solver leaves of a neuron that is 0, at its best relative to the largest …"""
    noise_over_precision: float = 100.0
    """… and over the precision that was asked for."""
    used: float = 1e-8
    """Neurons above this share of the largest are evaluated, also where they may be noise."""
    polish: float = 1e-2
    """A round that misses less than this is near enough for Newton's method."""
    more_points: float = 0.1
    """Points join once neurons are missing by less than this."""
    done: float = 1e-10
    """The gap at which nothing is left to polish."""
    support: float = 1e-9
    """λ_i‖x_i‖ below this share of the largest is the solver's noise."""
    tie: float = 1e-12
    """What λ makes of neurons in play is lowered by this share: they are no missing neurons."""
    tie_in_tree: float = 2e-10
    """Branch and bound does not look for what is larger by no more than this share."""
    few_sets: int = 50
    """Branchings of the bound by subsets, which is sharp at once or not at all."""
    share_of_time: float = 0.2
    """The share of the time left that one search by branch and bound may take but for the last."""
    next_round: float = 1.2
    """A round takes about so many times what the one before took: it begins if there is time."""
    late: float = 0.05
    """The share of the time by which the search for any network at all may be late."""
    enough_neurons: int = 8
    """Neurons that one search by branch and bound looks for."""
    least_floor: float = 1e-5
    """The least such value with a pair of budgets, relative to the margin: a sign may be unused."""
    crossed: float = 1e-9
    """The cosine beyond which a neuron has crossed a hyperplane, and may not do so again."""
    violated: float = 1e-10
    """A margin that is smaller than the value by this share is violated."""


@dataclass(frozen=True)
class PricingTolerances:
    """How large λ can make a neuron (`pricing`)."""

    descent_steps: int = 10
    """Times the dimensions that the rows span: cheap steps towards the best z, for all cells at
    once, before exact ones."""
    above: float = 1 + 1e-9
    """What exceeds the floor by a smaller factor is not counted: it may be the floor itself."""
    most_climbs: int = 100
    """Cells that one climb goes through."""
    climb: float = 1 + 1e-12
    """The factor by which a climb must still gain, or it ends: rounding gains less."""
    coarse: float = 1e-10
    """Rounding errors above this share of the floor are made smaller by longer numbers."""
    on_face: float = 1e-8
    """z_i‖x_i‖ above this share of ‖g‖: the best u of the cell lies on the hyperplane of x_i."""
    same: float = 1 - 1e-10
    """The cosine from which on two directions are one."""


@dataclass(frozen=True)
class DirectionTolerances:
    """Rounds in which neurons keep their directions (`directions`)."""

    rounds: int = 12
    """Rounds at most; …"""
    enough: float = 0.03
    """… they end when the best direction is missed by less than this share."""
    violated: float = 1e-9
    """A margin that is smaller than the value by more than this is violated: HiGHS's error."""
    most_idle: int = 8
    """Rounds without weight after which a direction leaves."""
    new: int = 20
    """Directions of each sign that may join in one round."""
    random_starts: int = 10
    """Random directions of each sign to climb from, besides those in play."""
    near: float = 1.2
    """Points with y_i f(x_i) up to this multiple of the margin are near it."""


@dataclass(frozen=True)
class BranchingLimits:
    """Branch and bound (`branch_and_bound`; what a node does is in `_chords` and `_quadratics`)."""

    most_nodes: int = 2_000_000
    """Nodes of one search where no time is set: about a minute."""
    nodes_at_a_time: int = 2000
    """Nodes between two looks at the clock …"""
    entries_at_a_time: int = 500_000
    """… and entries of the rows over all these nodes: less than a tenth of a second."""
    first_slots: int = 1024
    """Open nodes that there is room for at first …"""
    most_bytes: int = 2**29
    """… and the memory for them that a search may take."""
    most_directions: int = 120
    """Directions above the floor that are kept."""
    chords_first: int = 10_000
    """Nodes that chords bound at first; if some are left open, quadratic functions …"""
    quadratics_first: int = 500
    """… bound so many, and those with the smaller bound go on."""
    chords_of_a_quadratic: int = 20
    """What a node that a quadratic function bounds costs, in nodes with chords."""
    seconds_of_an_operation: float = 5e-9
    """Of all Newton steps of a node, for one operation of a step: measured, roughly …"""
    most_seconds: float = 10.0
    """… and what the first of these nodes may take, or half of the time."""
    seconds_at_a_time: float = 0.1
    """Between two looks at the clock."""


@dataclass(frozen=True)
class TreeProofLimits:
    """The tree as data (`tree_proof`)."""

    spare: float = 2e-10
    """Nodes are closed this share below the peak."""
    few_numbers: int = 2**18
    """Numbers up to which a tree with chords is small: 2 MB of text."""
    most_numbers: int = 2**24
    """Numbers of a tree at most: about 200 MB of text."""
    most_seconds: float = 150.0
    """For a tree with quadratic functions, by the estimate of what a node takes."""


@dataclass(frozen=True)
class PolishTolerances:
    """Newton's method on the optimality conditions (`polish`)."""

    most_steps: int = 25
    """Steps of Newton's method."""
    most_fruitless: int = 4
    """Steps in a row that do not halve what is wrong, after which Newton's method ends."""
    shares: tuple[float, ...] = (1e-3, 1e-5, 1e-6, 3e-7, 1e-7)
    """How much smaller than the largest λ may make a neuron that is taken for an optimal one."""
    direct: float = 1e-6
    """The same where they keep the weights that they have."""
    weight: float = 1e-7
    """Weights above this share of the largest are kept; the linear program's error is smaller."""
    same: float = 1 - 1e-9
    """The cosine from which on two directions are one."""
    gone: float = 1e-12
    """What is left of a neuron, as a share, when the change of lengths has removed it."""
    support: float = 1e-8
    """Points with λ_i‖x_i‖ above this share of the largest are on the margin: of two close points
    with different labels λ is larger than that of others by the inverse of their distance …"""
    cancelling: float = 1e3
    """… and where they cancel to less than one over this of them, the share is of what is left …"""
    coarse_support: float = 1e-6
    """… while λ is not precise, and smaller ones may be noise."""
    singular: float = 1e-13
    """Singular values below this share of the largest are 0 in a Newton step."""
    least_scale: float = 1e-3
    """Multipliers are scaled by their size, or this share of the largest where they are small."""
    most_turn: float = 0.5
    """The share of its length by which a neuron changes at most: it does not turn around."""
    rank: float = 1e-7
    """Singular values of unit rows above this count for the rank of a face."""
    whole: int = 150
    """Unknowns up to which a Newton step is solved for as a whole: some milliseconds."""


@dataclass(frozen=True)
class CellTolerances:
    """The interior-point method for vectors in given cells (`cell_program`)."""

    precision: float = 3e-7
    """What may be wrong in the end, relative to the widest margin: Newton's method does the rest,
    and lengths and their bounds cannot be told apart much better."""
    rough: float = 3e-5
    """The same where a margin that is 1e-4 short may be good enough."""
    none: float = 1e-9
    """Gaps up to this are closed, margins below it are 0, and vectors may be so far outside."""
    dead: float = 1e-5
    """Groups of a smaller share of the heaviest are taken for dead at first."""
    most_changes: int = 8
    """How often it is changed who lives and which walls are in the way."""
    same_unit: float = 10.0
    """The factor by which the margin may differ from the one expected, or else it is solved for
    again in units of its own."""
    inside: float = 0.99
    """The share of the way to the border of the cones that a step goes at most."""
    most_steps: int = 60
    """Steps; some fifteen are usual."""
    progress: float = 0.9
    """The factor by which what is wrong falls …"""
    most_fruitless: int = 6
    """… or else rounding is in the way after so many steps in a row."""


@dataclass(frozen=True)
class InterpolationTolerances:
    """Networks that fit points which nearly coincide (`interpolation`)."""

    perpendicular: int = 4
    """Random directions perpendicular to each point …"""
    most_points: int = 300
    """… up to so many points; of more each has one, and no other directions."""
    products_per_second: float = 5e9
    """Of least squares, about: they begin if there is time."""
    singular: float = 1e-15
    """Singular values below this share of the largest are 0: close points make small ones."""
    reweightings: int = 12
    """Least squares with new weights; each comes nearer to the least Σ|c|."""
    least_weight: float = 1e-6
    """The least weight of a column, relative to the largest |c|: it may come back."""


@dataclass(frozen=True)
class FixedOutputTolerances:
    """The output layer fixed at ±v (`fixed_output`)."""

    share_of_time: float = 0.8
    """The share of the time for the convex program; the rest is for networks."""
    most_flips: int = 60
    """Other cells that are tried …"""
    few_flips: int = 10
    """… and from each start of the search with few units."""
    touching: float = 1e-6
    """The cosine up to which a group touches a hyperplane: the solver's error."""
    tiny: float = 1e-3
    """A margin below this is solved for again, in its own unit."""
    better: float = 1 + 1e-9
    """The factor by which another cell must be better, or the search would go to and fro."""
    random_starts: int = 40
    """Random starts of the search with few units …"""
    most_products: int = 2_000_000
    """… as long as n·d·units are no more than this over the number of starts …"""
    most_steps: int = 300
    """… each with so many steps."""
    long: float = 3.0
    """The length of a unit at the start: at 1/units of it outputs on unit rows are about 1."""
    most_choices: int = 36
    """Binary variables, n·units, of a mixed-integer program: seconds …"""
    most_nodes: int = 2000
    """… with so many nodes at most, …"""
    hopeless: float = 1e-6
    """… of which those with a smaller margin on unit rows are given up: the programs' error."""


@dataclass(frozen=True)
class OuterBoundTolerances:
    """Bounds without an arrangement (`outer_bounds`)."""

    most_sets: int = 5000
    """Branchings after which the search for the best set ends, with what it could not exclude."""


@dataclass(frozen=True)
class MarginTolerances:
    """The max-margin separator (`max_margin`, `hull_solvers`)."""

    first_rows: int = 1000
    """Rows of the first working set; rows that are violated join it, round after round."""
    most_logistic_rows: int = 20_000
    """Rows of the logistic fit that looks at large data first."""
    most_rounds: int = 60
    """Rounds after which what has been proved is returned as it is."""
    most_plain_rows: int = 200
    """Rows up to which what solvers of the QP leave is easy enough to make a proof of."""
    good_gap: float = 1e-10
    """A relative gap that needs no other solver, nor another round."""
    ridge: float = 1e-3
    """The ridge of logistic fits: small enough that λ is nearly Farkas', large enough to solve."""
    surrounds: float = 1e-13
    """A hull this near to 0 probably contains it; a logistic fit then has the better proof."""
    try_proof: float = 1e-9
    """Upper bounds up to this may be 0: an exact proof of that is tried."""
    rescale: float = 1e-3
    """A hull nearer to 0 than this share of the constant c is solved again with a smaller c …"""
    rescale_until: float = 1e-14
    """… unless it is this near: then rounding is all that is left."""
    feasible: float = 1e-12
    """The feasibility asked of DAQP, relative to c."""
    support: float = 1e-7
    """A point whose margin is larger than the smallest by this share is no support example."""


@dataclass(frozen=True)
class FarkasTolerances:
    """Proofs that no direction separates (`farkas`, `infeasible`)."""

    most_exact_rows: int = 40
    """Rows with a multiplier up to which rational arithmetic is tried."""
    most_products: int = 300_000
    """Rational products to spend on finding columns that follow from others."""
    most_tries: int = 20
    """Rounds of dropping the rows whose multipliers had to turn negative."""
    shares: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 0.0)
    """Multipliers above these shares of the largest are tried in turn: few rows with large weights
    are the easiest to prove."""
    rank: float = 1e-10
    """Pivots below this share of the first belong to columns that may follow from others."""
    same_line: float = 1e-12
    """Projections of unit rows that differ by less may be of one line; fractions decide."""
    vertex: float = 1e-9
    """Multipliers of a linear program above this are not 0."""


@dataclass(frozen=True)
class ExtremalTolerances:
    """Extremal directions (`extremal_directions`)."""

    near: float = 1e-8
    """Relative to Σ|c_i|‖x_i‖. What fails by more has failed; the rest is decided in integers."""
    flat: float = 1e-11
    """Data that has a rank of 3, 2 or 1 up to this, each row relative to its size, is taken to."""
    block: int = 2**21
    """Signs looked at together."""
    most_signs: int = 2**28
    """Signs in all sectors that are enumerated: 400 points in space, 8,000 in the plane."""
    large: int = 1_000_000
    """Entries of X from which on the first steps up are cheap and long, so that less is met."""
    most_rounds: int = 40
    """Rounds of going up from one start."""
    most_work: float = 2e8
    """n²d times the starts of one sign: half a second, about …"""
    least_starts: int = 2
    """… but so many starts there are in any case, the sums of all points and of one class."""
    most_vanishing: int = 10
    """Rows that vanish and pull away from w, in the check of a direction met by going up."""
    same: float = 1 - 1e-10
    """The cosine from which on two directions are one."""
    strictly: float = 1 - 1e-6
    """|t_i| up to this is surely inside the box; between it and 1 the answer is doubtful."""


@dataclass(frozen=True)
class RayTolerances:
    """Non-negative least squares over rays (`boxed_nnls`)."""

    first_points: int = 200
    """Points of the first working set; later rounds at most double it."""
    most_rounds: int = 300
    """Rounds after which the last combination is returned as it is."""
    flat: float = 1e-9
    """No ray helps when all have at most this cosine with the residual."""
    rounding: float = 100.0
    """Units of rounding that a slope may be off by."""


@dataclass(frozen=True)
class ArrangementLimits:
    """What an enumeration may cost (`arrangements`)."""

    most_cells: int = 3_000_000
    """Sign vectors that are computed by default."""
    most_bytes: int = 4 * 2**30
    """Memory, counted at its peak, that an answer may need."""
    bytes_of_integer: int = 700
    """Memory for one entry of X in exact arithmetic, at most."""


SEARCH = SearchTolerances()
PRICING = PricingTolerances()
DIRECTIONS = DirectionTolerances()
BRANCHING = BranchingLimits()
TREE_PROOF = TreeProofLimits()
POLISH = PolishTolerances()
CELLS = CellTolerances()
INTERPOLATION = InterpolationTolerances()
FIXED_OUTPUT = FixedOutputTolerances()
OUTER_BOUND = OuterBoundTolerances()
MARGIN = MarginTolerances()
FARKAS = FarkasTolerances()
EXTREMAL = ExtremalTolerances()
RAYS = RayTolerances()
ARRANGEMENT = ArrangementLimits()
