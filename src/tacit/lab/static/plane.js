// The picture of the plane: regions, boundary, neurons with their kinks, points, predictions.

import { boundaryRays, boundarySegments, output, signsAlong } from "./boundary.js";
import { colours } from "./pens.js";
import { state } from "./state.js";
import { inPlane, restrict, view } from "./view.js";

const TURN = 2 * Math.PI;
const ROW = 2; // pixels of height of a stripe of the regions

export const toScreen = (pen, [x, y]) => {
  const unit = Math.min(pen.width, pen.height) / 2 / view.radius;
  return [pen.width / 2 + x * unit, pen.height / 2 - y * unit];
};
export const fromScreen = (pen, [x, y]) => {
  const unit = Math.min(pen.width, pen.height) / 2 / view.radius;
  return [(x - pen.width / 2) / unit, (pen.height / 2 - y) / unit];
};

const slopeOf = (activation) => (activation.startsWith("leaky:") ? Number(activation.slice(6)) : 0);

/** The neurons in the plane, the heaviest with weight 1. */
export function neuronsOf(W, a) {
  const sizes = W.map((w, k) => Math.abs(a[k]) * Math.hypot(...w));
  const most = Math.max(...sizes, 1e-300);
  return W.map((w, k) => {
    const [u, v, b] = restrict(w);
    const size = Math.hypot(...w) || 1;
    return { k, u: u / size, v: v / size, b: b / size, sign: Math.sign(a[k]), share: sizes[k] / most };
  });
}

const asNet = (neurons) => neurons.filter((n) => n.share > 0).map((n) => [n.u, n.v, n.b, n.sign * n.share]);

/** Draw everything; `shown` has the weights of this moment, `extra` what is not of a moment. */
export function drawPlane(pen, shown, extra = {}) {
  const colour = colours(), alpha = slopeOf(state.setting.activation);
  const at = (z) => toScreen(pen, z);
  pen.rects([[0, 0, pen.width, pen.height]], { fill: colour.paper });
  pen.clip(0, 0, pen.width, pen.height, () => {
    const neurons = shown ? neuronsOf(shown.W, shown.a) : [];
    if (neurons.length) drawRegions(pen, asNet(neurons), alpha, colour);
    drawAxes(pen, colour);
    if (neurons.length) {
      drawKinks(pen, neurons, colour);
      drawBoundary(pen, asNet(neurons), alpha, { stroke: colour.ink, line: 2.2 });
    }
    if (extra.ghost) {
      const ghost = neuronsOf(extra.ghost.W, extra.ghost.a);
      drawBoundary(pen, asNet(ghost), alpha, { stroke: colour.green, line: 2, dash: [2, 5] });
      for (const n of ghost) if (n.share > 1e-3) drawArrow(pen, n, { stroke: colour.green, line: 2, dash: [4, 3] });
    }
    for (const one of extra.predicted ?? []) drawHollow(pen, one, colour);
    for (const n of [...neurons].sort((one, other) => one.share - other.share)) {
      const life = shown.life?.[n.k] ?? "l", hot = extra.neuron === n.k;
      const stroke = life === "d" ? colour.soft : n.sign > 0 ? colour.orange : colour.blue;
      const look = { stroke, line: (hot ? 2 : 0) + 0.8 + 3.4 * n.share, alpha: life === "d" ? 0.55 : 0.35 + 0.65 * n.share };
      drawArrow(pen, n, { ...look, dash: life === "s" ? [6, 4] : life === "d" ? [1, 4] : [] });
    }
    drawPoints(pen, colour, extra, at);
  });
}

/** Without bias the regions are sectors. */
function drawSectors(pen, net, alpha, colour) {
  const rays = boundaryRays(net, alpha).map((angle) => ((angle % TURN) + TURN) % TURN).sort((one, other) => one - other);
  const ends = rays.length ? rays : [0];
  const size = net.reduce((sum, [u, v, , a]) => sum + Math.abs(a) * Math.hypot(u, v), 0);
  ends.forEach((from, i) => {
    const to = i + 1 < ends.length ? ends[i + 1] : ends[0] + TURN, middle = (from + to) / 2;
    const f = output(net, alpha, Math.cos(middle), Math.sin(middle));
    if (Math.abs(f) <= 1e-12 * size) return;
    const steps = Math.ceil((to - from) / 1.5), far = 3 * view.radius;
    const rim = Array.from({ length: steps + 1 }, (_, j) => from + ((to - from) * j) / steps);
    const corners = rim.map((angle) => toScreen(pen, [far * Math.cos(angle), far * Math.sin(angle)]));
    pen.path([toScreen(pen, [0, 0]), ...corners], { fill: f > 0 ? colour.plus : colour.minus }, true);
  });
}

function drawRegions(pen, net, alpha, colour) {
  if (net.every(([, , b]) => b === 0)) return drawSectors(pen, net, alpha, colour);
  const spans = { 1: [], "-1": [] };
  for (let y = 0; y < pen.height; y += ROW) {
    const p = fromScreen(pen, [0, y + ROW / 2]), q = fromScreen(pen, [pen.width, y + ROW / 2]);
    for (const [from, to, sign] of signsAlong(net, alpha, p, q)) if (sign) spans[sign].push([from * pen.width, y, (to - from) * pen.width, ROW]);
  }
  pen.rects(spans[1], { fill: colour.plus });
  pen.rects(spans[-1], { fill: colour.minus });
}

function drawAxes(pen, colour) {
  const look = { stroke: colour.edge, line: 0.7, alpha: 0.7 };
  const [x, y] = toScreen(pen, [0, 0]);
  pen.path([[0, y], [pen.width, y]], look);
  pen.path([[x, 0], [x, pen.height]], look);
  const step = 10 ** Math.floor(Math.log10(view.radius)) * (view.radius / 10 ** Math.floor(Math.log10(view.radius)) > 4 ? 2 : 1);
  for (let i = 1; i * step < view.radius; i++) {
    for (const t of [i * step, -i * step]) {
      const label = String(Number(t.toPrecision(3)));
      pen.text(label, toScreen(pen, [t, 0])[0], y + 12, { fill: colour.soft, size: 9.5, align: "center" });
      pen.text(label, x + 4, toScreen(pen, [0, t])[1] + 3, { fill: colour.soft, size: 9.5 });
    }
  }
}

function drawKinks(pen, neurons, colour) {
  for (const { u, v, b, sign, share } of neurons) {
    const size = Math.hypot(u, v);
    if (share < 0.03 || size < 1e-9) continue;
    const n = [u / size, v / size], off = -b / size, far = 2 * view.radius;
    const ends = [far, -far].map((t) => toScreen(pen, [off * n[0] - t * n[1], off * n[1] + t * n[0]]));
    pen.path(ends, { stroke: sign > 0 ? colour.orange : colour.blue, line: 0.8, alpha: 0.12 + 0.4 * share, dash: [5, 5] });
  }
}

export function drawBoundary(pen, net, alpha, look) {
  const r = view.radius * 1.01, flat = net.every(([, , b]) => b === 0);
  if (flat) {
    for (const angle of boundaryRays(net, alpha)) {
      pen.path([toScreen(pen, [0, 0]), toScreen(pen, [2 * r * Math.cos(angle), 2 * r * Math.sin(angle)])], look);
    }
  } else for (const [p, q] of boundarySegments(net, alpha, r)) pen.path([toScreen(pen, p), toScreen(pen, q)], look);
}

/** The end of a neuron's arrow in the plane: long where the neuron is heavy. */
export function tipOf({ u, v, share }) {
  const long = 0.86 * view.radius * Math.sqrt(share);
  return [u * long, v * long];
}

function drawArrow(pen, neuron, look) {
  const tip = toScreen(pen, tipOf(neuron)), from = toScreen(pen, [0, 0]);
  const dx = tip[0] - from[0], dy = tip[1] - from[1], size = Math.hypot(dx, dy);
  if (size < 1) return;
  pen.path([from, tip], look);
  const head = Math.min(3 + 1.8 * look.line, size), c = dx / size, s = dy / size;
  const wing = (turn) => [tip[0] - head * (c - turn * 0.45 * s), tip[1] - head * (s + turn * 0.45 * c)];
  pen.path([wing(1), tip, wing(-1)], { ...look, dash: [] });
}

/** Where the mark of a predicted direction is. */
export function markOf({ v }) {
  const [p, q] = inPlane(v), r = 0.93 * view.radius;
  return [p * r, q * r];
}

function drawHollow(pen, one, colour) {
  const [x, y] = toScreen(pen, markOf(one)), { sign, late } = one;
  const look = { stroke: sign > 0 ? colour.orange : colour.blue, line: late ? 2.2 : 1.4, dash: late ? [] : [2, 3] };
  if (sign > 0) pen.circle(x, y, 9, look);
  else pen.path([[x - 8, y - 8], [x + 8, y - 8], [x + 8, y + 8], [x - 8, y + 8]], look, true);
}

function drawPoints(pen, colour, extra, at) {
  state.points.forEach((point, i) => {
    const [x, y] = at(inPlane(point)), chosen = extra.point === i, r = chosen ? 7.5 : 5.2;
    const look = { fill: state.labels[i] > 0 ? colour.orange : colour.blue, stroke: chosen ? colour.ink : colour.paper, line: chosen ? 2 : 1.4 };
    if (state.labels[i] > 0) pen.circle(x, y, r, look);
    else pen.path([[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]].map(([p, q]) => [x + (p - x) * 0.9, y + (q - y) * 0.9]), look, true);
  });
}
