// The track above the slider: losses as labels, events as small marks.

import { canvasPen, colours } from "./pens.js";
import { ticksOf } from "./clock.js";
import { power } from "./numbers.js";

const MARKS = { cross: ["edge", 7], slide: ["amber", 12], release: ["green", 12], die: ["red", 16] };
const WORDS = { cross: "crosses the hyperplane of", slide: "begins to slide along the hyperplane of", release: "leaves the hyperplane of", die: "dies" };
const EDGE = 9; // pixels that the thumb of the slider needs on either side

/** Where a place of the run is on a track of this width. */
function along({ places }, width) {
  const low = places[0], wide = places[places.length - 1] - low || 1;
  return (place) => EDGE + ((place - low) / wide) * (width - 2 * EDGE);
}

function placeOfEvent({ places }, at) {
  const i = Math.floor(at);
  return places[i] + (at - i) * ((places[i + 1] ?? places[i]) - places[i]);
}

/** What happens at this many pixels from the left, in words; at most six lines. */
export function eventsAt(run, width, left) {
  if (run.places.length < 2) return "";
  const x = along(run, width), near = run.events.filter(([, , , at]) => Math.abs(x(placeOfEvent(run, at)) - left) < 4);
  const lines = near.slice(0, 6).map(([what, neuron, rows]) => {
    const seen = rows.slice(0, 4).join(", ");
    return `neuron ${neuron} ${WORDS[what] ?? what}${rows.length ? ` ${rows.length > 1 ? "rows" : "row"} ${seen}${rows.length > 4 ? ", …" : ""}` : ""}`;
  });
  return [...lines, ...(near.length > 6 ? [`and ${near.length - 6} more`] : [])].join("\n");
}

export function drawTicks(canvas, run) {
  const pen = canvasPen(canvas), colour = colours(), { frames, places, events } = run;
  if (places.length < 2) return;
  const x = along(run, pen.width);
  pen.path([[EDGE, 40.5], [pen.width - EDGE, 40.5]], { stroke: colour.edge });
  for (const [what, , , at] of events) {
    const place = placeOfEvent(run, at), [name, tall] = MARKS[what] ?? MARKS.cross;
    pen.path([[x(place), 40], [x(place), 40 - tall]], { stroke: colour[name], line: 1.1, alpha: 0.75 });
  }
  let free = -Infinity;
  pen.text("start", EDGE, 12, { fill: colour.soft, size: 10 });
  free = EDGE + 52;
  for (const [place, depth] of ticksOf(frames, places)) {
    const at = x(place), label = depth === 0 ? "L = 1" : power(-depth);
    if (at < free || at > pen.width - 26) continue;
    pen.path([[at, 16], [at, 20]], { stroke: colour.soft });
    pen.text(label, at, 12, { fill: colour.soft, size: 10, align: "center" });
    free = at + 40;
  }
}
