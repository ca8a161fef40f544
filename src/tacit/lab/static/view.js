// The plane that is shown: two directions of the points' space, and how weights look in it.

import { state } from "./state.js";

export const view = { choice: "0,1", b1: [1, 0], b2: [0, 1], radius: 1 };

const dot = (u, v) => u.reduce((sum, x, i) => sum + x * (v[i] ?? 0), 0);
const unit = (v) => { const size = Math.hypot(...v); return size > 0 ? v.map((x) => x / size) : null; };

function complement(b1, candidates) {
  for (const v of candidates) {
    const along = dot(v, b1);
    const rest = unit(v.map((x, i) => x - along * b1[i]));
    if (rest && Math.abs(dot(v, rest)) > 1e-9 * Math.hypot(...v)) return rest;
  }
  return b1.map(() => 0);
}

/** Choose the plane: two columns, or that of the limit's heaviest groups. */
export function setView(choice, limit, again = true) {
  const d = state.points[0]?.length ?? 2;
  view.choice = choice;
  const axis = (i) => Array.from({ length: d }, (_, j) => (i === j ? 1 : 0));
  if (choice === "limit" && limit?.groups?.length) {
    const heavy = [...limit.groups].sort((one, other) => other.weight - one.weight).map((g) => g.direction.slice(0, d));
    view.b1 = unit(heavy[0]) ?? axis(0);
    view.b2 = complement(view.b1, [...heavy.slice(1), ...Array.from({ length: d }, (_, i) => axis(i))]);
  } else {
    const [i, j] = choice === "limit" ? [0, 1] : choice.split(",").map(Number);
    view.b1 = axis(Math.min(i, d - 1));
    view.b2 = d > 1 ? axis(Math.min(j, d - 1)) : axis(0).map(() => 0);
  }
  fit(again);
}

/** Make the plot as large as the points need; where it nearly is, nothing moves under the hand. */
export function fit(again = true) {
  const far = Math.max(0, ...state.points.flatMap((x) => inPlane(x).map(Math.abs))), share = far / view.radius;
  if (again || share > 0.97 || (share < 0.3 && state.points.length > 1)) view.radius = far > 0 ? 1.3 * far : 1.5;
}

export const inPlane = (x) => [dot(view.b1, x), dot(view.b2, x)];

/** A neuron restricted to the plane: its two coordinates, and what the bias adds. */
export function restrict(w) {
  const d = state.points[0]?.length ?? 2;
  const bias = state.bias === null ? 0 : state.bias * (w[d] ?? 0);
  return [...inPlane(w.slice(0, d)), bias];
}

/** Points can be placed where the plane is all there is. */
export const editable = () => (state.points[0]?.length ?? 2) === 2;
