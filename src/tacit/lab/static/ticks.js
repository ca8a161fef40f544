// The track above the slider: losses as labels, events as small marks.

import { canvasPen, colours } from "./pens.js";
import { ticksOf } from "./clock.js";

const MARKS = { cross: ["edge", 7], slide: ["amber", 12], release: ["green", 12], die: ["red", 16] };
const EDGE = 9; // pixels that the thumb of the slider needs on either side

const superscript = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

export function drawTicks(canvas, { frames, places, events }) {
  const pen = canvasPen(canvas), colour = colours();
  if (places.length < 2) return;
  const low = places[0], wide = places[places.length - 1] - low || 1;
  const x = (place) => EDGE + ((place - low) / wide) * (pen.width - 2 * EDGE);
  pen.path([[EDGE, 40.5], [pen.width - EDGE, 40.5]], { stroke: colour.edge });
  for (const [what, , , at] of events) {
    const i = Math.floor(at), place = places[i] + (at - i) * ((places[i + 1] ?? places[i]) - places[i]);
    const [name, tall] = MARKS[what] ?? MARKS.cross;
    pen.path([[x(place), 40], [x(place), 40 - tall]], { stroke: colour[name], line: 1.1, alpha: 0.75 });
  }
  let free = -Infinity;
  pen.text("start", EDGE, 12, { fill: colour.soft, size: 10 });
  free = EDGE + 34;
  for (const [place, power] of ticksOf(frames, places)) {
    const at = x(place), label = power >= 1e4 ? `10^−${power.toExponential(0).replace("e+", "e")}` : power === 0 ? "L = 1" : `10${superscript(-power)}`;
    if (at < free || at > pen.width - 26) continue;
    pen.path([[at, 16], [at, 20]], { stroke: colour.soft });
    pen.text(label, at, 12, { fill: colour.soft, size: 10, align: "center" });
    free = at + 40;
  }
}
