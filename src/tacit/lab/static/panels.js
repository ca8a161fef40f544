// Small charts over the time of the run, with a line at the moment that is shown.

import { canvasPen, colours } from "./pens.js";
import { digits, power, roundValues } from "./numbers.js";
import { inPlane } from "./view.js";

const LEFT = 58, RIGHT = 8, TOP = 20, BOTTOM = 8;

const tidy = (y) => (y !== 0 && (Math.abs(y) >= 1e5 || Math.abs(y) < 1e-3) ? y.toExponential(0).replace("e+", "e").replaceAll("-", "−") : digits(y, 3));
const plainTicks = (low, high) => roundValues(low, high).map((y) => [y, tidy(y)]);

/** A chart: series of [place, y], level lines [y, words], marks at the right edge. */
function chart(canvas, { title, range, series, levels = [], marks = [], low, high, ticks = plainTicks, empty }) {
  const pen = canvasPen(canvas), colour = colours();
  pen.text(title, 6, 13, { fill: colour.ink, size: 11.5, bold: true });
  const every = series.flatMap((one) => one.points.map(([, y]) => y)).concat(levels.map(([y]) => y)).filter(Number.isFinite);
  if (!every.length) {
    pen.text(empty ?? "", pen.width / 2, pen.height / 2, { fill: colour.soft, size: 11, align: "center" });
    return;
  }
  let bottom = low ?? Math.min(...every), top = high ?? Math.max(...every);
  if (!(top > bottom)) { bottom -= 0.5; top += 0.5; }
  const room = low === undefined ? 0.06 * (top - bottom) : 0;
  bottom -= room; top += room;
  const x = (place) => LEFT + ((place - range[0]) / (range[1] - range[0] || 1)) * (pen.width - LEFT - RIGHT);
  const y = (value) => pen.height - BOTTOM - ((value - bottom) / (top - bottom)) * (pen.height - TOP - BOTTOM);
  let free = Infinity;
  for (const [value, words] of ticks(bottom, top)) {
    if (value < bottom || value > top || y(value) > free) continue;
    pen.path([[LEFT, y(value)], [pen.width - RIGHT, y(value)]], { stroke: colour.line, line: 1 });
    pen.text(words, LEFT - 4, y(value) + 3, { fill: colour.soft, size: 9.5, align: "right" });
    free = y(value) - 16;
  }
  pen.clip(LEFT, TOP - 4, pen.width - LEFT - RIGHT, pen.height - TOP - BOTTOM + 8, () => {
    for (const [value, words, stroke] of levels) {
      pen.path([[LEFT, y(value)], [pen.width - RIGHT, y(value)]], { stroke, line: 1.4, dash: [4, 4] });
      pen.text(words, pen.width - RIGHT - 3, y(value) - 4 > TOP + 4 ? y(value) - 4 : y(value) + 11, { fill: stroke, size: 10, align: "right" });
    }
    for (const { points, stroke, line = 1.6, alpha = 1, dash = [] } of series) {
      let part = [];
      const parts = [part];
      for (const [place, value] of points) {
        if (Number.isFinite(value)) part.push([x(place), y(value)]);
        else if (part.length) parts.push((part = []));
      }
      for (const one of parts) if (one.length) pen.path(one, { stroke, line, alpha, dash });
    }
  });
  for (const [value, stroke, hollow] of marks) pen.circle(pen.width - RIGHT - 4, y(value), 4, hollow ? { stroke, line: 1.8 } : { fill: stroke });
}

/** A line at the moment that is shown, above the charts, which need not be drawn again for it. */
export function moveCursors(panels, places, place) {
  const [low, high] = rangeOf(places);
  if (!panels.querySelector(".cursor")) {
    panels.style.setProperty("--left", `${LEFT}px`);
    panels.style.setProperty("--right", `${RIGHT}px`);
    for (const canvas of panels.querySelectorAll("canvas")) canvas.after(Object.assign(document.createElement("i"), { className: "cursor" }));
  }
  panels.classList.toggle("empty", !places.length);
  panels.style.setProperty("--share", (place - low) / (high - low || 1));
}

const finite = (value) => (value === null || value === undefined ? NaN : value);
const rangeOf = (places) => [places[0] ?? 0, places[places.length - 1] ?? 1];

export function drawPanels(canvases, { frames, places, limit, descent, descentPlaces, predicted }) {
  const colour = colours(), range = rangeOf(places);
  drawDirections(canvases.directions, { frames, places, predicted, range, colour });
  const losses = frames.map((frame, i) => [places[i], frame.log10_loss === null ? NaN : lossHeight(frame.log10_loss)]);
  const other = (pick) => descent.map((frame, i) => [descentPlaces[i], finite(pick(frame))]).filter(([place]) => place <= range[1]);
  chart(canvases.losses, {
    title: "loss", range, empty: "no run yet",
    series: [{ points: losses, stroke: colour.ink }, { points: other((f) => f.norm && lossHeight(f.log10_loss)), stroke: colour.amber, dash: [5, 3] }],
    ticks: () => LOSSES.map((log10) => [lossHeight(log10), log10 > -4 ? tidy(10 ** log10) : power(log10)]),
  });
  const bounds = limit?.optimal, levels = [];
  if (bounds && bounds[0] !== null) levels.push([bounds[0], "certified optimum", colour.green]);
  const top = Math.max(...frames.map((f) => finite(f.margin)).filter(Number.isFinite), ...levels.map(([y]) => y), 1e-12);
  chart(canvases.margins, {
    title: "normalised margin (╌ smoothed)", range, levels, low: -0.25 * top, high: 1.12 * top, empty: "no run yet",
    series: [
      { points: frames.map((f, i) => [places[i], finite(f.margin)]), stroke: colour.blue },
      { points: frames.map((f, i) => [places[i], finite(f.smoothed)]), stroke: colour.orange, dash: [5, 3] },
      { points: other((f) => f.margin), stroke: colour.amber, dash: [2, 3] },
    ],
  });
  const approach = limit?.approach ?? [];
  const near = frames.map((frame, i) => {
    const row = approach.find(([log10_loss]) => log10_loss === frame.log10_loss);
    return [places[i], row && row[1] > 0 ? Math.log10(row[1]) : NaN];
  });
  chart(canvases.distance, {
    title: "angle to the limit", range, series: [{ points: near, stroke: colour.green }],
    ticks: angleTicks, empty: limit ? "no limit is claimed" : "after the run",
  });
  canvases.losses.setAttribute("aria-label", `Loss over time; at the end log10 loss is ${frames.at(-1)?.log10_loss ?? "unknown"}.`);
  canvases.margins.setAttribute("aria-label", `Normalised margin over time; at the end ${frames.at(-1)?.margin ?? "unknown"}, certified optimum ${bounds?.[0] ?? "unknown"}.`);
  canvases.directions.setAttribute("aria-label", `Directions of ${frames[0]?.a.length ?? 0} neurons over time.`);
  canvases.distance.setAttribute("aria-label", `Angle between the path and its limit; at the end ${approach.at(-1)?.[1] ?? "unknown"}.`);
}

/** log₁₀ L, logarithmic again below 0.1, so that 10^(−1000) can be drawn beside 10. */
const lossHeight = (log10_loss) => (log10_loss >= -1 ? log10_loss : -1 - Math.log10(-log10_loss));
const LOSSES = [1e250, 1e200, 1e150, 1e100, 1e70, 1e50, 1e30, 1e20, 1e15, 1e10, 1e7, 1e5, 1e4, 1000, 100, 30, 10, 5, 3, 2, 1].map((x) => -x).concat([0, 1, 2, 3, 4, 5]);

/** Powers of ten, and 2 and 5 times those where they lie far from each other. */
function angleTicks(low, high) {
  const between = high - low < 2 ? [1, 2, 5] : [1], values = [];
  for (let n = Math.floor(low); n <= high; n++) for (const k of between) values.push([n + Math.log10(k), n > -4 ? tidy(k * 10 ** n) : power(n)]);
  return values;
}

function drawDirections(canvas, { frames, places, predicted, range, colour }) {
  const series = [], marks = [];
  if (frames.length) {
    const last = frames[frames.length - 1];
    const sizes = last.W.map((w, k) => Math.abs(last.a[k]) * Math.hypot(...w)), most = Math.max(...sizes, 1e-300);
    last.a.forEach((a, k) => {
      const points = [];
      let before = null;
      frames.forEach((frame, i) => {
        const [u, v] = inPlane(frame.W[k]), angle = (Math.atan2(v, u) * 180) / Math.PI;
        if (before !== null && Math.abs(angle - before) > 180) points.push([places[i], NaN]);
        points.push([places[i], angle]);
        before = angle;
      });
      const share = sizes[k] / most;
      series.push({ points, stroke: last.life[k] === "d" ? colour.edge : a > 0 ? colour.orange : colour.blue, line: 0.7 + 2 * share, alpha: 0.3 + 0.7 * share });
    });
    for (const { sign, v: direction } of predicted) {
      const [u, v] = inPlane(direction);
      marks.push([(Math.atan2(v, u) * 180) / Math.PI, sign > 0 ? colour.orange : colour.blue, true]);
    }
  }
  chart(canvas, { title: "directions of the neurons (°)", range, series, marks, low: -185, high: 185, ticks: () => [-180, -90, 0, 90, 180].map((v) => [v, digits(v)]), empty: "no run yet" });
}
