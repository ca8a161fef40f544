// Statements as lamps: on where every hypothesis holds, with the slack of the nearest to failing.

const TOLERANCE = 2e-6; // smaller slacks are what rounding is allowed, not a distance

/** The hypothesis of a statement that decides: the worst that fails, or the nearest to failing. */
export function nearest(lamp) {
  const failed = lamp.hypotheses.filter((one) => one.holds === false);
  if (failed.length) return failed.reduce((worst, one) => ((one.slack ?? -1) < (worst.slack ?? -1) ? one : worst));
  const counted = lamp.hypotheses.filter((one) => one.holds && one.slack > TOLERANCE);
  return counted.length ? counted.reduce((least, one) => (one.slack < least.slack ? one : least)) : null;
}

const failures = (lamp) => lamp.hypotheses.filter((one) => one.holds === false);
const byNumber = (lamp) => failures(lamp).length === 1 && failures(lamp)[0].slack !== null && failures(lamp)[0].slack !== -1 && failures(lamp)[0].slack !== 0;

/** Lit and undecided ones, then those that one number keeps dark; the nearest to failing first. */
export function order(lamps) {
  const slack = (lamp) => nearest(lamp)?.slack ?? Infinity;
  const lit = lamps.filter((one) => one.applies === true).sort((one, other) => slack(one) - slack(other));
  const open = lamps.filter((one) => one.applies === null && one.hypotheses.length).sort((one, other) => slack(one) - slack(other));
  const near = lamps.filter((one) => one.applies === false && byNumber(one)).sort((one, other) => slack(other) - slack(one));
  const shown = new Set([...lit, ...open, ...near]);
  return { lit, open, near, dark: lamps.filter((one) => !shown.has(one)) };
}

const part = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

const said = (slack) => (slack === null ? "" : Math.abs(slack) >= 1e4 || (slack !== 0 && Math.abs(slack) < 1e-3) ? slack.toExponential(1) : String(Number(slack.toPrecision(3))));

const SAID = { on: "applies: ", maybe: "may apply: ", off: "does not apply: " }; // for those who cannot see the lamp

function row(lamp, verdict, prediction) {
  const state = lamp.applies === true ? "on" : lamp.applies === null ? "maybe" : "off";
  const item = part("li", `lamp ${state}`);
  item.dataset.id = lamp.id;
  item.dataset.state = state;
  const head = part("div");
  head.append(part("span", "heard", SAID[state]), part("span", "id", lamp.id), " ", part("span", "place", lamp.place.split(" ").slice(1).join(" ")));
  if (verdict) {
    head.append(" ", part("span", `badge ${verdict.verdict.replaceAll(" ", "-")}`, verdict.verdict));
    if (verdict.proved) head.append(" ", part("span", "badge proved", "proved"));
  }
  item.append(head, part("p", "", lamp.summary));
  const near = nearest(lamp);
  if (near && near.slack !== null) {
    const bar = part("div", near.holds ? "bar" : "bar fails"), fill = document.createElement("i");
    fill.style.width = `${(100 * Math.min(Math.abs(near.slack), 1) ** 0.5).toFixed(1)}%`;
    bar.append(fill);
    item.append(bar, part("div", "why", `${near.name} ${near.holds ? "holds with slack" : "fails by"} ${said(Math.abs(near.slack))}`));
  } else if (state === "maybe") {
    const open = lamp.hypotheses.filter((one) => one.holds === null).map((one) => one.name);
    if (open.length) item.append(part("div", "why", `undecided before a run: ${open.slice(0, 3).join(", ")}`));
  }
  item.tip = () => words(lamp, verdict, prediction);
  item.tabIndex = 0;
  return item;
}

/** What is told of a statement that is pointed at. */
function words(lamp, verdict, prediction) {
  const mark = (one) => (one.holds === null ? "?" : one.holds ? "✓" : "✗");
  const lines = [lamp.place, lamp.summary, ...lamp.hypotheses.map((one) => `${mark(one)} ${one.name}${one.slack ? ` (${said(one.slack)})` : ""}, ${one.place}${one.note ? `: ${one.note}` : ""}`)];
  if (prediction) lines.push(`It predicts: ${prediction.words}`);
  if (verdict) lines.push(`${verdict.verdict}: ${verdict.words}`);
  return lines.join("\n");
}

const rows = new Map(); // by the id of the statement: what its row says, and the row

/** The row of a statement: the one there is, where it says the same. */
function kept(lamp, verdict, prediction) {
  const says = JSON.stringify([lamp, verdict, prediction]);
  if (rows.get(lamp.id)?.says !== says) rows.set(lamp.id, { says, row: row(lamp, verdict, prediction) });
  return rows.get(lamp.id).row;
}

/** Put these rows into a list; where they are there already, nothing is laid out again. */
function fill(list, many) {
  if (many.length !== list.children.length || many.some((one, i) => one !== list.children[i])) list.replaceChildren(...many);
}

/** Show the lamps; verdicts and predictions are by the id of the statement. */
export function showLamps(lamps, verdicts, predictions) {
  const decided = lamps.map((lamp) => {
    const verdict = verdicts[lamp.id];
    return verdict && verdict.hypotheses.length ? { ...lamp, applies: verdict.applies, hypotheses: verdict.hypotheses } : lamp;
  });
  const { lit, open, near, dark } = order(decided);
  const list = (many) => many.map((lamp) => kept(lamp, verdicts[lamp.id], predictions[lamp.id]));
  fill(document.getElementById("lamps"), list([...lit, ...open, ...near]));
  fill(document.getElementById("dark-lamps"), list(dark));
  document.querySelector("#dark summary").textContent = `${dark.length} more do not apply`;
  document.getElementById("tally").textContent = `${lit.length} apply, ${open.length} may, ${near.length} just fail; the nearest to failing first`;
}

export function showProperties(properties) {
  document.getElementById("properties").replaceChildren(...properties.map((one) => {
    const item = part("li", `lamp ${one.holds ? "on" : one.holds === null ? "maybe" : "off"}`);
    item.dataset.property = one.name;
    item.append(part("span", "id", one.name), " ", part("span", "place", one.place), part("div", "why", [one.slack === null ? "" : `slack ${said(one.slack)}`, one.note].filter(Boolean).join("; ")));
    return item;
  }));
}
