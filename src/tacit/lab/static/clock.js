// The time of a run: a rescaling of log(1/L) that spreads out both ends, and weights between frames.

const EVEN = 3, DEEP = 3; // powers of ten of 1/L, and of log(1/L)

/** Where each frame is: log(fallen/L) is log(1/L) late and grows evenly while the loss hardly falls. */
export function placesOf(frames) {
  if (!frames.length) return [];
  const first = frames[0].fallen;
  const places = frames.map((frame) => {
    const fallen = frame.fallen - first;
    if (frame.depth !== null && frame.depth > 2) return late(10 ** Math.min(frame.depth, 300), frame.depth);
    return fallen > 0 ? late(Math.log10(fallen) - frame.log10_loss) : null;
  });
  const known = places.find((place) => place !== null) ?? 0;
  let most = -Infinity;
  return places.map((place) => (most = Math.max(most, place ?? known - 1)));
}

/** Even up to EVEN, then logarithmic: a loss of 10^(−1000) is not a thousand times as far. Beyond it
 * once more: the margin may still change at 10^(−10^250), but what is to be seen is early. */
function late(u, depth = Math.log10(u)) {
  if (u <= EVEN) return u;
  const far = EVEN + EVEN * Math.LN10 * (Math.min(depth, DEEP) - Math.log10(EVEN)) / 2;
  return far + EVEN * Math.log(Math.max(depth / DEEP, 1));
}

/** Places of round losses, for ticks. */
export function ticksOf(frames, places) {
  const ticks = [];
  for (const power of [0, 1, 2, 3, 5, 10, 30, 100, 300, 1000, 1e5, 1e10, 1e20, 1e50, 1e100, 1e200]) {
    const i = frames.findIndex((frame) => frame.log10_loss !== null && frame.log10_loss <= -power);
    if (i < 1) continue;
    const [one, other] = [frames[i - 1].log10_loss, frames[i].log10_loss];
    const share = other === one ? 0 : (one + power) / (one - other);
    ticks.push([places[i - 1] + share * (places[i] - places[i - 1]), power]);
  }
  return ticks;
}

/** The frame before a place, and how far it is to the next. */
export function frameAt(places, place) {
  let low = 0, high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (places[middle] <= place) low = middle;
    else high = middle - 1;
  }
  const next = places[low + 1];
  return { index: low, share: next > places[low] ? Math.min(Math.max((place - places[low]) / (next - places[low]), 0), 1) : 0 };
}

/** The weights to draw at a place: those of a frame, or between two of them. */
export function between(frames, { index, share }) {
  const one = frames[index], other = frames[index + 1];
  if (!one || !other || share === 0) return one;
  const scale = (frame) => Math.max(...frame.W.map((w, k) => Math.abs(frame.a[k]) * Math.hypot(...w)), 1e-300);
  const p = (1 - share) / Math.sqrt(scale(one)), q = share / Math.sqrt(scale(other));
  return {
    ...(share < 0.5 ? one : other),
    W: one.W.map((w, k) => w.map((x, j) => p * x + q * other.W[k][j])),
    a: one.a.map((x, k) => p * x + q * other.a[k]),
  };
}

/** The frame whose loss is nearest from above to this one: descent beside the flow. */
export function atLoss(frames, log10_loss) {
  let best = 0;
  frames.forEach((frame, i) => { if (frame.log10_loss !== null && frame.log10_loss >= log10_loss) best = i; });
  return best;
}
