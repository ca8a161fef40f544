// Where a two-layer network changes sign in the plane, exactly: it is linear between its kinks.
// A network here is a list of neurons [u1, u2, b, a] with f(z) = Σ a φ(u·z + b), φ(t) = max(t, αt).

const phi = (t, alpha) => (t > 0 ? t : alpha * t);

export function output(net, alpha, x, y) {
  let sum = 0;
  for (const [u, v, b, a] of net) sum += a * phi(u * x + v * y + b, alpha);
  return sum;
}

/** The roots in [0, 1] of f along the segment from p to q, and its kinks there, in order. */
function alongSegment(net, alpha, p, q) {
  let value = 0, slope = 0;
  const kinks = [];
  for (const [u, v, b, a] of net) {
    const start = u * p[0] + v * p[1] + b, rise = u * (q[0] - p[0]) + v * (q[1] - p[1]);
    const active = start > 0 || (start === 0 && rise > 0);
    const gain = active ? a : a * alpha;
    value += gain * start;
    slope += gain * rise;
    const at = rise === 0 ? -1 : -start / rise;
    if (at > 0 && at < 1) kinks.push([at, (active ? -1 : 1) * a * (1 - alpha) * rise]);
  }
  return { value, slope, kinks: kinks.sort((one, other) => one[0] - other[0]) };
}

/** The stretches of the segment on which f is positive and negative: [from, to, sign]. */
export function signsAlong(net, alpha, p, q) {
  let { value, slope, kinks } = alongSegment(net, alpha, p, q);
  const size = net.reduce((sum, [u, v, b, a]) => sum + Math.abs(a) * (Math.hypot(u, v) * (Math.abs(p[0]) + Math.abs(p[1])) + Math.abs(b)), 0);
  const zero = 1e-12 * size;
  const parts = [];
  const add = (from, to, sign) => {
    const last = parts[parts.length - 1];
    if (last && last[2] === sign) last[1] = to;
    else if (to > from) parts.push([from, to, sign]);
  };
  let at = 0;
  for (const [next, change] of [...kinks, [1, 0]]) {
    const end = value + slope * (next - at);
    const left = Math.abs(value) <= zero ? 0 : Math.sign(value), right = Math.abs(end) <= zero ? 0 : Math.sign(end);
    if (left * right < 0) {
      const root = at - value / slope;
      add(at, root, left);
      add(root, next, right);
    } else add(at, next, left || right);
    value = end;
    slope += change;
    at = next;
  }
  return parts;
}

/** Directions (angles) in which a network without bias changes sign: the boundary is these rays. */
export function boundaryRays(net, alpha) {
  const kinks = [];
  for (const [u, v] of net) {
    if (u === 0 && v === 0) continue;
    const across = Math.atan2(v, u) + Math.PI / 2;
    for (const angle of [across, across + Math.PI]) kinks.push(((angle % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI));
  }
  kinks.sort((one, other) => one - other);
  const size = net.reduce((sum, [u, v, , a]) => sum + Math.abs(a) * Math.hypot(u, v), 0);
  const zero = 1e-12 * size;
  const rays = [];
  let before = null, first = null;
  kinks.forEach((from, i) => {
    const to = i + 1 < kinks.length ? kinks[i + 1] : kinks[0] + 2 * Math.PI;
    if (to - from < 1e-13) return;
    const middle = (from + to) / 2, c = Math.cos(middle), s = Math.sin(middle);
    let A = 0, B = 0; // f = A cos θ + B sin θ between two kinks
    for (const [u, v, , a] of net) {
      const gain = u * c + v * s > 0 ? a : a * alpha;
      A += gain * u;
      B += gain * v;
    }
    const signAt = (angle) => { const f = A * Math.cos(angle) + B * Math.sin(angle); return Math.abs(f) <= zero ? 0 : Math.sign(f); };
    const [left, mid, right] = Math.hypot(A, B) <= zero ? [0, 0, 0] : [signAt(from) || signAt(middle), signAt(middle), signAt(to) || signAt(middle)];
    if (before !== null && before !== left) rays.push(from);
    first ??= [left, from];
    if (left * right < 0 || (left !== mid && mid !== 0)) {
      const root = Math.atan2(-A, B); // A cos θ + B sin θ = 0
      for (const angle of [root, root + Math.PI, root + 2 * Math.PI, root + 3 * Math.PI]) if (angle > from && angle < to) rays.push(angle);
    }
    before = right;
  });
  if (first && before !== null && before !== first[0]) rays.push(first[1]);
  return rays;
}

/** Segments of {f = 0} in the square of this radius, for a network with bias.
 *
 * Every piece of the boundary ends at a kink or at the edge of the square. The roots of f on those
 * lines are found exactly; from each the boundary goes on straight into the cell beside it.
 */
export function boundarySegments(net, alpha, radius) {
  const r = radius, lines = net.filter(([u, v]) => u !== 0 || v !== 0);
  const roots = []; // a point of the boundary, and a direction that leads into a cell beside it
  const seek = (p, q, own, normals) => {
    const parts = signsAlong(net.filter((neuron) => neuron !== own), alpha, p, q);
    for (let i = 1; i < parts.length; i++) {
      const t = parts[i][0], x = p[0] + t * (q[0] - p[0]), y = p[1] + t * (q[1] - p[1]);
      if (Math.abs(x) <= 1.000001 * r && Math.abs(y) <= 1.000001 * r) for (const n of normals) roots.push([x, y, ...n]);
    }
  };
  for (const line of lines) {
    const [u, v, b] = line, size = Math.hypot(u, v), n = [u / size, v / size], off = -b / size;
    if (Math.abs(off) > 1.5 * r) continue;
    const p = [off * n[0] - 2 * r * n[1], off * n[1] + 2 * r * n[0]], q = [off * n[0] + 2 * r * n[1], off * n[1] - 2 * r * n[0]];
    seek(p, q, line, [n, [-n[0], -n[1]]]);
  }
  const corners = [[-r, -r], [r, -r], [r, r], [-r, r]], inwards = [[0, 1], [-1, 0], [0, -1], [1, 0]];
  corners.forEach((corner, i) => seek(corner, corners[(i + 1) % 4], null, [inwards[i]]));
  const segments = [], seen = new Set(), near = 1e-9 * r;
  for (const [x, y, nx, ny] of roots) {
    let A = 0, B = 0; // the slope of f in that cell
    for (const [u, v, b, a] of net) {
      const gain = u * (x + near * nx) + v * (y + near * ny) + b > 0 ? a : a * alpha;
      A += gain * u;
      B += gain * v;
    }
    const size = Math.hypot(A, B), side = Math.sign(-B * nx + A * ny);
    if (size === 0 || side === 0) continue;
    const tx = (-B / size) * side, ty = (A / size) * side;
    let reach = 3 * r;
    for (const [u, v, b] of lines) {
      const t = -(u * x + v * y + b) / (u * tx + v * ty);
      if (t > 10 * near && t < reach) reach = t;
    }
    for (const [at, d] of [[x, tx], [y, ty]]) {
      const t = d === 0 ? Infinity : (Math.sign(d) * r - at) / d;
      if (t < reach) reach = Math.max(t, 0);
    }
    const end = [x + reach * tx, y + reach * ty];
    const key = [x + end[0], y + end[1]].map((z) => Math.round((1e6 * z) / r)).join();
    if (!seen.has(key)) {
      seen.add(key);
      segments.push([[x, y], end]);
    }
  }
  return segments;
}
