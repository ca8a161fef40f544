// Points by mouse, finger and keyboard.

import { remember, state, touched } from "./state.js";
import { roundValues } from "./numbers.js";
import { editable, inPlane, view } from "./view.js";
import { fromScreen, neuronsOf, tipOf, toScreen } from "./plane.js";

export const chosen = { point: null, neuron: null };

/** Coordinates have four digits or so, so that links stay short. */
function rounded(x) {
  const unit = 10 ** (3 - Math.floor(Math.log10(view.radius)));
  return Math.round(x * unit) / unit;
}

const sizeOf = (canvas) => ({ width: canvas.clientWidth, height: canvas.clientHeight });
const placeOf = (canvas, event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left - canvas.clientLeft, event.clientY - box.top - canvas.clientTop];
};

export function pointAt(canvas, [x, y], reach = 12) {
  let best = null, least = reach;
  state.points.forEach((point, i) => {
    const [p, q] = toScreen(sizeOf(canvas), inPlane(point)), far = Math.hypot(p - x, q - y);
    if (far < least) [best, least] = [i, far];
  });
  return best;
}

export function neuronAt(canvas, [x, y], shown) {
  let best = null, least = 8;
  for (const neuron of shown ? neuronsOf(shown.W, shown.a) : []) {
    const [p, q] = toScreen(sizeOf(canvas), tipOf(neuron)), [o, r] = toScreen(sizeOf(canvas), [0, 0]);
    const dx = p - o, dy = q - r, along = Math.min(Math.max(((x - o) * dx + (y - r) * dy) / (dx * dx + dy * dy || 1), 0.25), 1);
    const far = Math.hypot(o + along * dx - x, r + along * dy - y);
    if (far < least) [best, least] = [neuron.k, far];
  }
  return best;
}

function toggle(i) {
  remember();
  state.labels[i] = -state.labels[i];
  touched();
}

function remove(i) {
  if (state.points.length < 2) return;
  remember();
  state.points.splice(i, 1);
  state.labels.splice(i, 1);
  touched();
  chosen.point = null;
}

function add(z, label) {
  remember();
  state.points.push(z.map(rounded));
  state.labels.push(label);
  touched();
  chosen.point = state.points.length - 1;
}

function move(i, z) {
  state.points[i] = z.map(rounded);
  touched();
}

/** `changed(dragging)` is called when points change, `redraw()` when only the picture does, `tell(i)` when point i is chosen. */
export function makeEditable(canvas, { changed, redraw, label, tell }) {
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (!editable() || event.button !== 0) return;
    canvas.focus({ preventScroll: true });
    const at = placeOf(canvas, event), i = pointAt(canvas, at, event.pointerType === "touch" ? 22 : 12);
    chosen.point = i;
    canvas.setPointerCapture(event.pointerId);
    drag = { i, at, moved: false };
    redraw();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag || drag.i === null) return;
    const at = placeOf(canvas, event);
    if (!drag.moved && Math.hypot(at[0] - drag.at[0], at[1] - drag.at[1]) < 3) return;
    if (!drag.moved) remember();
    drag.moved = true;
    move(drag.i, fromScreen(sizeOf(canvas), at));
    changed(true);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { i, moved } = drag;
    drag = null;
    if (i === null) {
      add(fromScreen(sizeOf(canvas), placeOf(canvas, event)), label());
      changed(false);
    } else if (moved) changed(false);
  });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("dblclick", (event) => {
    const i = pointAt(canvas, placeOf(canvas, event));
    if (i !== null && editable()) { toggle(i); changed(false); }
  });
  canvas.addEventListener("keydown", (event) => {
    if (!editable() || event.ctrlKey || event.metaKey || event.altKey) return;
    const n = state.points.length, i = chosen.point, by = (event.shiftKey ? 0.2 : 1) * roundValues(0, view.radius, 100)[1];
    const steps = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, by], ArrowDown: [0, -by] };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "n" || key === "p") {
      chosen.point = n ? ((i ?? (key === "n" ? -1 : 0)) + (key === "n" ? 1 : n - 1)) % n : null;
      if (n) tell(chosen.point);
      redraw();
    } else if (key === "a") { add([0.4 * view.radius, 0.4 * view.radius], label()); changed(false); }
    else if (i === null) return;
    else if (key in steps) { remember(); move(i, state.points[i].map((x, j) => x + steps[key][j])); changed(false); }
    else if (key === "t") { toggle(i); changed(false); }
    else if (key === "Delete" || key === "Backspace") { remove(i); changed(false); }
    else return;
    event.preventDefault();
  });
}

export { placeOf };
