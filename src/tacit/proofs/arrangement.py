"""All cells that the hyperplanes x_i·u = 0 cut the space of u into, in whole numbers.

Rows on one line through 0 share a hyperplane, so the lines count. With r the rank of the lines,
every cell is a pointed cone once u is reduced to r coordinates, so it has at least r facets, on
different hyperplanes. A facet in the hyperplane of line i is a cell of the arrangement that the
others cut out of this hyperplane, and from each such cell one steps into a cell on either side.
So all cells are found from the hyperplanes of any m − r + 1 of the m lines, which are arrangements
of rank r − 1; those of rank 2 are read off the lines sorted by angle.
"""

import math
from dataclasses import dataclass
from functools import cmp_to_key

import numpy as np

from tacit.proofs.exact import Budget, product_cost
from tacit.values import BadInput

MOST_FACES = 5_000_000
"""Cells of the arrangement and of those in its hyperplanes, hyperplanes in hyperplanes, …"""

Row = tuple[int, ...]


@dataclass(frozen=True)
class Lines:
    """The lines through 0 on which rows lie: row i is factor[i] · directions[line[i]]."""

    directions: list[Row]
    """Whole numbers without common divisor, the first that is not 0 positive."""
    line: list[int]
    """The number of the line of each row; −1 for a row of zeros."""
    factor: list[int]

    def mask(self, signs: str) -> int | None:
        """The bits of a cell from the signs of all rows; None where these contradict each other."""
        bits = [""] * len(self.directions)
        for sign, line, factor in zip(signs, self.line, self.factor, strict=True):
            if (sign == "0") != (line < 0):
                return None
            if line >= 0:
                bit = "1" if (sign == "+") == (factor > 0) else "0"
                if bits[line] not in ("", bit):
                    return None
                bits[line] = bit
        return int("0" + "".join(reversed(bits)), 2)

    def bits(self, masks: list[int]) -> np.ndarray:
        """Whether the direction of a line (column) is positive in a cell (row)."""
        width = len(self.directions) // 8 + 1
        packed = b"".join(mask.to_bytes(width, "little") for mask in masks)
        table = np.frombuffer(packed, dtype=np.uint8).reshape(len(masks), width)
        return np.unpackbits(table, axis=1, count=len(self.directions), bitorder="little")


def lines_of(rows: np.ndarray) -> Lines:
    """The lines of rows of whole numbers."""
    known: dict[Row, int] = {}
    line, factor = [], []
    for row in rows.tolist():
        divisor = _signed_divisor(row)
        if divisor:
            direction = tuple(value // divisor for value in row)
            line.append(known.setdefault(direction, len(known)))
        else:
            line.append(-1)
        factor.append(divisor)
    return Lines(list(known), line, factor)


def _signed_divisor(row: list[int] | Row) -> int:
    """The greatest common divisor, with the sign of the first entry that is not 0."""
    divisor = math.gcd(*row)
    return -divisor if next((value < 0 for value in row if value), False) else divisor


def cells(lines: Lines, budget: Budget, what: str) -> list[int]:
    """All cells in increasing order; bit l of a cell says that direction l is positive on it."""
    if not lines.directions:
        return [0]
    columns = _independent_columns(lines.directions, budget, what)
    rows, up, down = _merged(
        [tuple(row[c] for c in columns) for row in lines.directions],
        [1 << l for l in range(len(lines.directions))],
        [0] * len(lines.directions),
    )
    return sorted(_cells(rows, up, down, 0, {}))


def most_cells(m: int, r: int) -> int:
    """The most cells that m lines of rank r can have; general position has as many."""
    return 2 * sum(math.comb(m - 1, i) for i in range(r))


def most_faces(m: int, r: int) -> int:
    """The most cells over all arrangements that are looked at for m lines of rank r."""
    return sum(math.comb(m - r + k, k) * most_cells(m - k, r - k) for k in range(max(1, r - 1)))


def _independent_columns(directions: list[Row], budget: Budget, what: str) -> list[int]:
    """Columns that span all columns, so that the others may be left out (Bareiss elimination)."""
    A = np.array(directions, dtype=object)
    m, d = A.shape
    cost = product_cost(A)
    columns: list[int] = []
    last = 1
    for column in range(d):
        r = len(columns)
        if r == m:
            break
        pivot = next((i for i in range(r, m) if A[i, column]), None)
        if pivot is None:
            continue
        columns.append(column)
        _allow(most_cells(m, r + 1), m, f"{what}: {m} lines of rank {r + 1} or more")
        budget.take(m * d * cost * (r + 1), f"{what}: the rank of the support points")
        A[[r, pivot]] = A[[pivot, r]]
        head = A[r]
        # The last pivot divides every entry (they are minors of A), so numbers stay short.
        A[r + 1 :] = (A[r + 1 :] * head[column] - np.outer(A[r + 1 :, column], head)) // last
        last = head[column]
    faces = most_faces(m, len(columns))
    _allow(faces, m, f"{what}: {m} lines of rank {len(columns)}")
    budget.take(3 * faces * cost, f"{what}: the cells")
    return columns


def _allow(faces: int, m: int, what: str) -> None:
    if faces * (1 + m // 1024) > MOST_FACES:  # each is a whole number of m bits
        raise BadInput(
            f"{what} may cut space into so many cells that {faces:.0e} are to be looked at; "
            f"at most {MOST_FACES:.0e} are"
        )


def _cells(
    rows: list[Row], up: list[int], down: list[int], flat: int, known: dict[int, set[int]]
) -> set[int]:
    """All cells of the arrangement of `rows`, of full rank and on different lines.

    A positive row sets the bits `up`, a negative one the bits `down`. `flat` has the bits of the
    lines that vanish on the subspace we are in, and `known` the cells for each such subspace.
    """
    if flat in known:
        return known[flat]
    r = len(rows[0])
    if r == 1:
        cells = {up[0], down[0]}
    elif r == 2:
        cells = _cells_of_plane(rows, up, down)
    else:
        cells = set()
        for i in range(len(rows) - r + 1):
            inside = flat | up[i] | down[i]
            facets = known.get(inside)
            if facets is None:
                facets = _cells(*_restricted(rows, up, down, i), inside, known)
            cells.update([facet | up[i] for facet in facets])
            cells.update([facet | down[i] for facet in facets])
    known[flat] = cells
    return cells


def _cells_of_plane(rows: list[Row], up: list[int], down: list[int]) -> set[int]:
    """Turning u by half a turn, the rows change sign one after the other in order of their angle.

    The rows point into one half-plane, so all are positive at first and negative at the end.
    """

    def by_angle(i: int, j: int) -> int:
        # Never 0, as no two rows lie on one line.
        cross = rows[i][0] * rows[j][1] - rows[i][1] * rows[j][0]
        return -1 if cross > 0 else 1

    cells = set()
    here, opposite = _union(up), _union(down)
    for i in sorted(range(len(rows)), key=cmp_to_key(by_angle)):
        cells |= {here, opposite}
        here ^= up[i] | down[i]
        opposite ^= up[i] | down[i]
    return cells


def _union(masks: list[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _restricted(
    rows: list[Row], up: list[int], down: list[int], i: int
) -> tuple[list[Row], list[int], list[int]]:
    """The other rows on the hyperplane of row i: one coordinate is eliminated by means of it."""
    pivot = rows[i]
    c = next(c for c, value in enumerate(pivot) if value)
    p = pivot[c]  # positive, see Lines
    others = [c2 for c2 in range(len(pivot)) if c2 != c]
    rest = [
        tuple(p * row[c2] - row[c] * pivot[c2] for c2 in others)
        for j, row in enumerate(rows)
        if j != i
    ]
    return _merged(rest, up[:i] + up[i + 1 :], down[:i] + down[i + 1 :])


def _merged(
    rows: list[Row], up: list[int], down: list[int]
) -> tuple[list[Row], list[int], list[int]]:
    """Rows on one line become one row, whose signs stand for those of all of them."""
    merged: dict[Row, tuple[int, int]] = {}
    for row, plus, minus in zip(rows, up, down, strict=True):
        divisor = _signed_divisor(row)
        if divisor < 0:
            plus, minus = minus, plus
        row = tuple(value // divisor for value in row)
        known = merged.get(row, (0, 0))
        merged[row] = known[0] | plus, known[1] | minus
    ups, downs = zip(*merged.values(), strict=True)
    return list(merged), list(ups), list(downs)
