// The page: it asks the engine, keeps what comes back, and draws the moment that is chosen.

import { Engine } from "./engine.js";
import { atLoss, between, frameAt, placesOf } from "./clock.js";
import { $ } from "./dom.js";
import { chosenView, fillMenus, fillViews, readControls, showControls } from "./controls.js";
import { chosen, makeEditable, neuronAt, placeOf, pointAt } from "./editing.js";
import { showLamps, showProperties } from "./lamps.js";
import { drawPanels, moveCursors } from "./panels.js";
import { canvasPen, colours } from "./pens.js";
import { drawPlane, markOf, toScreen } from "./plane.js";
import { canRedo, canUndo, caseMessage, fromFragment, redo, remember, state, toFragment, undo } from "./state.js";
import { csvText, save, saveFilm, saveGif, savePng, saveSvg } from "./taking.js";
import { digits, fromLog10 } from "./numbers.js";
import { drawTicks, eventsAt } from "./ticks.js";
import { editable, fit, inPlane, setView, view } from "./view.js";

const fresh = () => ({ frames: [], places: [], events: [], limit: null, best: null, descent: [], done: false });
let run = fresh(), lamps = [], verdicts = {}, predictions = {};
let place = 0, playing = false, before = 0, drawn = null, pending = false, stale = true;
let engine = null;
const DURATION = 12000; // milliseconds from start to end at single speed
const calm = matchMedia("(prefers-reduced-motion: reduce)"); // then nothing plays by itself: the end is shown

function status(words, wrong = false) {
  $("status").textContent = words;
  $("status").classList.toggle("wrong", wrong);
}

const range = () => [run.places[0] ?? 0, run.places.at(-1) ?? 1];
const shownFrame = () => frameAt(run.places, place);

/** Draw everything again. */
function redraw() {
  stale = true;
  drawMoment();
}

/** Only the moment has changed: charts stay as they are. */
function drawMoment() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(draw);
}

function predicted() {
  const ids = lamps.filter((lamp) => lamp.applies !== false && predictions[lamp.id]).sort((one, other) => (other.needs === "limit") - (one.needs === "limit"));
  const every = ids.flatMap((lamp) => predictions[lamp.id].directions.map(([sign, v]) => ({ sign, v, id: lamp.id, late: lamp.needs === "limit" })));
  const same = (one, other) => one.sign === other.sign && one.v.every((x, j) => Math.abs(x - other.v[j]) < 1e-6);
  const kinds = every.filter((one, i) => every.findIndex((other) => same(one, other)) === i).slice(0, 24);
  return kinds.map((one) => ({ ...one, ids: every.filter((other) => same(one, other)).map((other) => other.id) }));
}

function draw(now) {
  pending = false;
  if (playing) {
    const [low, high] = range(), wide = high - low;
    if (before) place += ((now - before) / DURATION) * wide * Number($("speed").value);
    before = now;
    if (place >= high) { place = high; if (run.done) stop(); }
    drawMoment();
  }
  const at = shownFrame(), frame = run.frames[at.index];
  drawn = run.frames.length ? between(run.frames, at) : null;
  const extra = { ...chosen, predicted: predicted(), ghost: ghostAt(at) };
  $("descent-figure").hidden = !state.descent.on;
  const pen = canvasPen($("plane")), other = state.descent.on ? canvasPen($("descent-plane")) : null; // sizes before writes: else all is laid out twice
  drawPlane(pen, drawn, extra);
  $("scrub").value = share();
  const charts = { directions: $("directions"), losses: $("losses"), margins: $("margins"), distance: $("distance") };
  if (stale) {
    stale = false;
    drawTicks($("ticks"), run);
    drawPanels(charts, { ...run, predicted: extra.predicted, descentPlaces: run.descent.map(placeOfLoss) });
  }
  moveCursors($("panels"), run.places, place);
  if (other) drawDescent(other, frame, extra.predicted);
  describe(frame, at.index);
}

/** The better network, which is shown at the end. */
const ghostAt = (at) => (run.done && at.index >= run.frames.length - 1 && $("ghost").checked ? run.best : null);

/** The moment that is shown, from 0 at the start to 1 at the end. */
function share() {
  const [low, high] = range();
  return high > low ? (place - low) / (high - low) : 0;
}

/** The place at a share of the run; its end to the last bit. */
function placeAt(share) {
  const [low, high] = range();
  return share < 1 ? low + share * (high - low) : high;
}

/** The plane at a share of the run with a line about it, for what is taken away. */
function picture(pen, share) {
  const at = frameAt(run.places, placeAt(share)), frame = run.frames[at.index];
  drawPlane(pen, frame ? between(run.frames, at) : null, { predicted: predicted(), ghost: ghostAt(at) });
  if (frame) pen.text(`loss ${lossOf(frame)}, margin ${digits(frame.margin)}`, 10, pen.height - 10, { fill: colours().ink, size: 13 });
}

/** Where a frame of descent is on the flow's time: at the same loss. */
function placeOfLoss(frame) {
  const i = run.frames.findIndex((one) => one.log10_loss <= frame.log10_loss);
  return i < 0 ? Infinity : run.places[i];
}

function drawDescent(pen, frame, marks) {
  const i = frame && run.descent.length ? atLoss(run.descent, frame.log10_loss) : 0, shown = run.descent[i];
  drawPlane(pen, shown ?? null, { predicted: marks });
  const last = i === run.descent.length - 1 && shown;
  $("descent-caption").textContent = shown ? `gradient descent, epoch ${shown.epoch}, at the same loss${last ? " (it came no further)" : ""}` : "gradient descent …";
}

const lossOf = (frame) => (frame.depth !== null && frame.log10_loss === null ? `10^−10^${digits(frame.depth)}` : fromLog10(frame.log10_loss));

function describe(frame, index) {
  if (!frame) { $("moment").textContent = ""; return; }
  const loss = lossOf(frame);
  const count = (letter) => [...frame.life].filter((c) => c === letter).length;
  $("moment").textContent = `loss ${loss}, margin ${digits(frame.margin)}, ${frame.a.length - count("d")} neurons alive (${count("s")} sliding), ${count("d")} dead; moment ${index + 1} of ${run.frames.length}`;
  $("moment").dataset.index = index;
  $("scrub").setAttribute("aria-valuetext", `loss ${loss}`);
  $("plane").setAttribute("aria-label", `The plane: ${state.points.length} points of two classes, ${frame.a.length} neurons, loss ${loss}. Press n to choose a point, arrows to move it, t to change its class, Delete to remove it.`);
}

function stop() {
  playing = false;
  $("play").classList.remove("playing");
  $("play").setAttribute("aria-label", "play");
}

function start() {
  if (place >= range()[1]) place = range()[0];
  playing = true;
  before = 0;
  $("play").classList.add("playing");
  $("play").setAttribute("aria-label", "pause");
  drawMoment();
}

/** Something changed: the statements are asked again, and a run that is under way is given up. */
function changed(dragging) {
  stop();
  run = fresh();
  verdicts = {};
  predictions = {};
  if (!dragging) fit(false);
  $("verdict").hidden = true;
  about();
  if (state.points.length) engine?.ask("check", { ...caseMessage(), dragging });
  if (dragging) giveUp();
  else begin();
  redraw();
}

function giveUp() {
  if (!engine) return;
  if (document.body.dataset.run === "running") engine.ask("stop");
  document.body.dataset.run = "none";
  engine.forget("run");
  engine.forget("descend");
}

function begin() {
  place = 0;
  if (!state.points.length) return nothing();
  if (!engine) return;
  status("Following the flow …");
  document.body.dataset.run = "running";
  engine.ask("run", caseMessage());
  descend();
  if (!calm.matches) start();
}

/** There are no points. */
function nothing() {
  giveUp();
  engine?.forget("check");
  lamps = [];
  showLamps(lamps, verdicts, predictions);
  showProperties([]);
  status("Click into the plane to place points.");
  redraw();
}

/** Ask for gradient descent, where it is to be shown; the flow stays as it is. */
function descend() {
  const { on, lr, step, epochs } = state.descent;
  run.descent = [];
  engine.forget("descend");
  if (on && state.points.length) engine.ask("descend", { ...caseMessage(), lr, step, epochs });
  history.replaceState(null, "", toFragment());
  redraw();
}

function about() {
  const d = state.points[0]?.length ?? 2;
  $("about").textContent = `${state.name}: ${state.points.length} point${state.points.length === 1 ? "" : "s"} in ${d} dimension${d === 1 ? "" : "s"}${state.bias === null ? "" : `, bias ${state.bias}`}`;
  $("undo").disabled = !canUndo();
  $("redo").disabled = !canRedo();
  const legend = [["is-plus", "●", `${state.classes[0]}; a > 0`], ["is-minus", "■", `${state.classes[1]}; a < 0`], ["", "→", "neuron: length and thickness are its weight"], ["", "╌", "its activation hyperplane"], ["", "┅→", "sliding"], ["", "┈→", "dead"], ["", "○□", "predicted (dotted: on the way)"], ["", "━", "boundary"], ["is-edge", "│", "on the axis: a neuron crosses a hyperplane"], ["is-amber", "│", "slides"], ["is-green", "│", "is released"], ["is-red", "│", "dies"]];
  $("legend").replaceChildren(...legend.map(([kind, mark, words]) => {
    const item = document.createElement("li"), sign = document.createElement("b");
    sign.className = kind;
    sign.textContent = mark;
    item.append(sign, ` ${words}`);
    return item;
  }));
}

function takePoints(message) {
  const { points, labels, name, source, bias, columns, classes } = message;
  Object.assign(state, { points, labels, name, source, bias: bias ?? null, columns, classes });
  if (source) { $("generator").value = source.split(":")[0]; $("call").value = source; }
  shape();
}

/** The dimension may have changed. */
function shape(again = true) {
  const d = state.points[0]?.length ?? 2;
  const choice = d > 2 ? "limit" : "0,1";
  fillViews(d, state.columns);
  setView(choice, run.limit, again);
  chosen.point = null;
  showControls();
}

const answers = {
  hello(message) {
    fillMenus(message);
    Object.assign(state.setting, message.setting ?? {});
    state.seed = message.seed ?? 0;
    if (location.hash.length > 1 && fromFragment(location.hash)) shape();
    else takePoints(message.points);
    $("generator").value = (state.source || "orthogonal").split(":")[0];
    $("generator").dispatchEvent(new Event("change"));
    if (state.source) $("call").value = state.source;
    document.body.dataset.ready = "yes";
    changed(false);
  },
  points(message) { remember(); takePoints(message); $("choose-row").hidden = true; changed(false); },
  geometry(message) { showProperties(message.properties); },
  lamps(message) { lamps = message.lamps; showLamps(lamps, verdicts, predictions); },
  predictions(message) { predictions = message.predictions; showLamps(lamps, verdicts, predictions); redraw(); },
  frames(message) {
    run.frames.push(...message.frames);
    run.places = placesOf(run.frames);
    if (run.frames.length === message.frames.length) place = run.places[0];
    if (calm.matches && !playing) place = run.places.at(-1);
    document.body.dataset.frames = run.frames.length;
    redraw();
  },
  descent(message) { run.descent.push(...message.frames); redraw(); },
  limit(message) {
    run.limit = message;
    run.events = message.events;
    run.done = true;
    if (view.choice === "limit") setView("limit", message);
    showOutcome(message);
    $("command").textContent = message.command;
    $("python").textContent = message.python;
    document.body.dataset.fingerprint = message.fingerprint;
    status(`Run ${message.fingerprint}: the same data, setting and seed give the same bits.`);
    redraw();
  },
  best(message) {
    if (!message.W) return;
    run.best = message;
    $("ghost-row").hidden = false;
    redraw();
  },
  verdicts(message) {
    verdicts = Object.fromEntries(message.verdicts.map((one) => [one.id, one]));
    showLamps(lamps, verdicts, predictions);
    document.body.dataset.run = "done";
  },
  refused(message, kind) {
    if (kind === "read" && /classes/.test(message.words)) $("choose-row").hidden = false;
    status(message.words, true);
    if (kind === "run") { run.done = true; document.body.dataset.run = "refused"; stop(); }
  },
};

function showOutcome(limit) {
  const settled = limit.W !== null;
  $("verdict").hidden = false;
  $("verdict").className = settled && limit.optimality === "certified" ? "" : "open";
  $("outcome").textContent = settled && limit.share !== null && limit.optimality === "certified" ? "Global optimum."
    : settled && limit.optimality === "suboptimal" ? `${(100 * limit.share).toFixed(1)} % of the optimum: there is a better network.` : `${limit.outcome[0].toUpperCase()}${limit.outcome.slice(1)}.`;
  const groups = limit.groups.length;
  const where = groups ? `The neurons end in ${groups} direction${groups === 1 ? "" : "s"}. ` : "";
  $("sentence").textContent = where + [settled ? limit.verdict : limit.reason, limit.proved].filter(Boolean).join(" ").replaceAll("`", "");
  $("ghost-words").textContent = limit.optimality === "suboptimal" ? "show the better network" : "show the widest margin found";
  $("plane-caption").textContent = editable() ? "gradient flow" : `gradient flow; the plane is a view of ${state.points[0].length} dimensions, in which points cannot be moved`;
  $("ghost-row").hidden = true;
}

function receive(message, kind) {
  answers[message.is]?.(message, kind);
}

// ---- what people do

let settingTimer = 0;
$("settings").addEventListener("input", (event) => {
  if (["generator", "call", "file", "brush", "choose", "view", "view-x", "view-y"].includes(event.target.id)) return;
  delete event.target.dataset.exact;
  readControls();
  if (event.target.closest("#beside")) return descend();
  clearTimeout(settingTimer);
  settingTimer = setTimeout(() => changed(false), 120);
});
$("settings").addEventListener("submit", (event) => event.preventDefault());
$("draw").addEventListener("click", () => engine.ask("load", { call: $("call").value.trim() }));
$("call").addEventListener("keydown", (event) => { if (event.key === "Enter") $("draw").click(); });
$("generator").addEventListener("change", (event) => { if (event.isTrusted) $("draw").click(); });
$("clear").addEventListener("click", () => { remember(); Object.assign(state, { points: [], labels: [], name: "points", source: "", columns: [], classes: ["+1", "−1"] }); shape(); changed(false); });
$("undo").addEventListener("click", () => { if (undo()) { shape(false); changed(false); } });
$("redo").addEventListener("click", () => { if (redo()) { shape(false); changed(false); } });
for (const id of ["view", "view-x", "view-y"]) $(id).addEventListener("change", () => { setView(chosenView(state.points[0].length), run.limit); redraw(); });
$("ghost").addEventListener("change", drawMoment);

let dropped = null;
async function readDropped(file) {
  if (!file) return;
  if (file.size > 1.5e6) return status(`${file.name} is too large for a page; it may have 1.5 MB.`, true);
  dropped = { name: file.name.slice(0, 80), text: await file.text() };
  engine.ask("read", { ...dropped, choose: $("choose").value.trim() });
}
$("file").addEventListener("change", (event) => readDropped(event.target.files[0]));
$("choose").addEventListener("change", () => { if (dropped) engine.ask("read", { ...dropped, choose: $("choose").value.trim() }); });
addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
addEventListener("dragleave", () => document.body.classList.remove("dropping"));
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  if (engine) readDropped(event.dataTransfer.files[0]);
});

$("play").addEventListener("click", () => (playing ? (stop(), drawMoment()) : start()));
$("rewind").addEventListener("click", () => { stop(); place = range()[0]; drawMoment(); });
$("scrub").addEventListener("input", () => {
  stop();
  place = placeAt(Number($("scrub").value));
  drawMoment();
});
addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(event.target.tagName) && event.target.type !== "range";
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing && engine) { event.preventDefault(); $(event.shiftKey ? "redo" : "undo").click(); }
  else if (event.key === " " && !typing) { event.preventDefault(); $("play").click(); }
  else if (event.key === "Home" && !typing) $("rewind").click();
});

$("link").addEventListener("click", async () => {
  history.replaceState(null, "", toFragment());
  try { await navigator.clipboard.writeText(location.href); status("The link is copied; `tacit lab LINK` opens it elsewhere."); }
  catch { status("The address of this page is the link; `tacit lab LINK` opens it elsewhere."); }
});
$("csv").addEventListener("click", () => save("points.csv", new Blob([csvText()], { type: "text/csv" })));
$("png").addEventListener("click", () => savePng(picture, share()));
$("svg").addEventListener("click", () => saveSvg(picture, share()));
for (const [button, saved] of [["gif", saveGif], ["film", saveFilm]]) {
  $(button).addEventListener("click", async () => {
    if (!run.done || run.frames.length < 2) return status("Wait for the end of the run: then it can be recorded.", true);
    $(button).disabled = true;
    try {
      await saved(picture, (done) => status(`Recording: ${Math.round(100 * done)} %`));
      status("Recorded.");
    } catch (error) { status(error.message, true); }
    $(button).disabled = false;
  });
}

const rowWords = (i) => `row ${i}: (${state.points[i].slice(0, 6).map((x) => digits(x)).join(", ")}${state.points[i].length > 6 ? ", …" : ""}), class ${state.classes[state.labels[i] > 0 ? 0 : 1]}`;

function tip(words, event) {
  $("tip").hidden = !words;
  if (!words) return;
  $("tip").textContent = words;
  const { innerWidth, innerHeight } = window, box = $("tip").getBoundingClientRect();
  $("tip").style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8))}px`;
  $("tip").style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 8))}px`;
}
$("plane").addEventListener("pointermove", (event) => {
  const at = placeOf($("plane"), event), i = pointAt($("plane"), at);
  const k = i === null ? neuronAt($("plane"), at, drawn) : null;
  if (chosen.neuron !== k) { chosen.neuron = k; drawMoment(); }
  const frame = run.frames[shownFrame().index];
  if (i !== null) {
    const q = frame?.q?.[i];
    return tip(`${rowWords(i)}${q === undefined ? "" : `\nmargin y·f(x) = ${digits(q)}`}`, event);
  }
  const size = { width: $("plane").clientWidth, height: $("plane").clientHeight };
  const mark = predicted().find((one) => { const [x, y] = toScreen(size, markOf(one)); return Math.hypot(x - at[0], y - at[1]) < 12; });
  if (mark) return tip(`predicted direction of neurons with a ${mark.sign > 0 ? ">" : "<"} 0 ${mark.late ? "in the limit" : "on the way"}\n${mark.ids.join(", ")}`, event);
  if (k !== null && frame) {
    const w = frame.W[k], words = { l: "living", s: "sliding along a hyperplane", d: "dead" }[frame.life[k]];
    return tip(`neuron ${k}: ${words}\na = ${digits(frame.a[k])}, ‖w‖ = ${digits(Math.hypot(...w))}\ndirection ${digits((Math.atan2(inPlane(w)[1], inPlane(w)[0]) * 180) / Math.PI)}°`, event);
  }
  tip("", event);
});
$("ticks").addEventListener("pointermove", (event) => tip(eventsAt(run, $("ticks").clientWidth, event.offsetX), event));
$("ticks").addEventListener("pointerleave", (event) => tip("", event));
$("plane").addEventListener("pointerleave", (event) => tip("", event));
for (const list of ["lamps", "dark-lamps"]) {
  $(list).addEventListener("pointermove", (event) => tip(event.target.closest(".lamp")?.tip() ?? "", event));
  $(list).addEventListener("pointerleave", (event) => tip("", event));
  $(list).addEventListener("focusin", (event) => {
    const box = event.target.getBoundingClientRect();
    if (event.target.matches(":focus-visible")) tip(event.target.tip?.() ?? "", { clientX: box.left, clientY: box.bottom });
  });
  $(list).addEventListener("focusout", (event) => tip("", event));
  $(list).addEventListener("click", (event) => tip(event.target.closest(".lamp")?.tip() ?? "", event)); // a finger does not hover
}
addEventListener("resize", redraw);
addEventListener("scroll", () => { $("tip").hidden = true; }, { capture: true, passive: true });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

// ---- live, or a recording that was saved

const recording = document.getElementById("recording");
if (recording) {
  document.body.classList.add("recording");
  const saved = JSON.parse(recording.textContent);
  for (const message of saved) {
    if (message.is === "hello") {
      Object.assign(state.setting, message.setting);
      fillMenus(message);
      takePoints(message.points);
      about();
      const { width, activation, init, loss, train } = state.setting;
      $("about").textContent += `; ${width} neurons, ${activation}, ${init}, ${loss} loss, ${train === "both" ? "both layers" : "first layer"}, seed ${message.seed}`;
    }
    else receive(message, "run");
  }
  status("A recording made by `tacit lab --export`.");
  document.body.dataset.ready = "yes";
  if (run.frames.length && !calm.matches) { place = run.places[0]; start(); }
} else {
  makeEditable($("plane"), { changed, redraw, label: () => Number($("brush").value), tell: (i) => status(rowWords(i)) });
  engine = new Engine(receive, status);
}
