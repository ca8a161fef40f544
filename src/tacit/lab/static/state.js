// What the page is about: points, network, seed; undo, and the text of a link.

export const DEFAULTS = {
  setting: { activation: "relu", train: "both", width: 40, init: "balanced:0.0001", loss: "logistic", output_weight: 1 },
  seed: 0,
  descent: { on: false, lr: 0.1, step: "scaled", epochs: 10000 },
};

export const state = {
  points: [], labels: [], name: "points", source: "", bias: null, columns: [], classes: ["+1", "−1"],
  ...structuredClone(DEFAULTS),
};

const past = [], future = [];
const DATA = ["points", "labels", "name", "source", "bias", "columns", "classes"];
const snapshot = () => structuredClone(Object.fromEntries(DATA.map((key) => [key, state[key]])));

/** Remember the points as they are, before they change. */
export function remember() {
  past.push(snapshot());
  if (past.length > 200) past.shift();
  future.length = 0;
}

function step(from, to) {
  if (!from.length) return false;
  to.push(snapshot());
  Object.assign(state, from.pop());
  return true;
}
export const undo = () => step(past, future);
export const redo = () => step(future, past);
export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

/** The points are no longer those of a generator or a file. */
export function touched() {
  state.source = "";
  if (state.name !== "points" && !state.name.endsWith("edited")) state.name = `${state.name.slice(0, 60)}, edited`;
}

/** The data of a case, as the engine is asked about it. */
export function caseMessage() {
  const { points, labels, name, source, bias, setting, seed } = state;
  return { points, labels, name, source, bias, setting, seed };
}

const url = (text) => text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** The state as the fragment of an address. */
export function toFragment() {
  const { setting, seed, descent } = state;
  const bytes = new TextEncoder().encode(JSON.stringify({ ...snapshot(), setting, seed, descent }));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return `#${url(btoa(text))}`;
}

const isText = (value) => typeof value === "string" && value.length <= 200;

/** Take the state of a fragment; false where it is none. The engine checks every number again. */
export function fromFragment(fragment) {
  try {
    const raw = atob(fragment.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/"));
    const read = JSON.parse(new TextDecoder().decode(Uint8Array.from(raw, (c) => c.charCodeAt(0))));
    const points = read.points;
    if (!Array.isArray(points) || !points.length || !Array.isArray(read.labels)) return false;
    const d = points[0].length;
    if (!points.every((x) => Array.isArray(x) && x.length === d && x.every(Number.isFinite))) return false;
    if (read.labels.length !== points.length || !read.labels.every((y) => y === 1 || y === -1)) return false;
    if (![read.name, read.source, ...read.columns, ...read.classes].every(isText)) return false;
    for (const key of DATA) state[key] = read[key];
    state.setting = { ...DEFAULTS.setting, ...read.setting };
    state.seed = Number.isInteger(read.seed) ? read.seed : 0;
    state.descent = { ...DEFAULTS.descent, ...read.descent };
    return true;
  } catch {
    return false;
  }
}
