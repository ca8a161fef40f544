// The form: what it says is the setting, and the setting is what it shows.

import { $ } from "./dom.js";
import { state } from "./state.js";

const SCALES = /^(.*):(.*)$/;

/** Show the state in the form. */
export function showControls() {
  const { setting, seed, descent } = state, [, start, scale] = setting.init.match(SCALES) ?? [null, "balanced", "1e-4"];
  $("width").value = setting.width;
  $("activation").value = setting.activation.startsWith("leaky") ? "leaky" : "0";
  if (setting.activation.startsWith("leaky:")) $("slope").value = setting.activation.slice(6);
  $("train").value = setting.train;
  $("start").value = start;
  $("scale").value = Math.log10(Number(scale));
  $("loss").value = setting.loss;
  $("seed").value = seed;
  $("bias").value = state.bias === null ? "" : String(state.bias);
  $("descent").checked = descent.on;
  $("lr").value = Math.log10(descent.lr);
  $("step").value = descent.step;
  $("epochs").value = String(descent.epochs);
  showTexts();
}

function showTexts() {
  $("width-text").textContent = $("width").value;
  $("slope-row").hidden = $("activation").value !== "leaky";
  $("slope-text").textContent = $("slope").value;
  $("scale-text").textContent = scaleText($("scale").value);
  $("lr-text").textContent = scaleText($("lr").value);
  $("descent-rows").hidden = !$("descent").checked;
}

const scaleText = (log10) => Number((10 ** Number(log10)).toPrecision(3)).toString();

/** Take the state from the form. */
export function readControls() {
  showTexts();
  const leaky = $("activation").value === "leaky", bias = Number($("bias").value.replace(",", "."));
  state.setting = {
    activation: leaky ? `leaky:${Number($("slope").value)}` : "relu",
    train: $("train").value,
    width: Number($("width").value),
    init: `${$("start").value}:${scaleText($("scale").value)}`,
    loss: $("loss").value,
    output_weight: state.setting.output_weight,
  };
  const seed = Math.trunc(Number($("seed").value));
  state.seed = Number.isFinite(seed) ? Math.min(Math.max(seed, 0), 4294967295) : 0;
  state.bias = $("bias").value.trim() === "" || !Number.isFinite(bias) ? null : bias;
  state.descent = { on: $("descent").checked, lr: Number(scaleText($("lr").value)), step: $("step").value, epochs: Number($("epochs").value) };
}

/** Fill the menus with what the engine knows. */
export function fillMenus({ generators, starts }) {
  const option = (value, text) => { const made = document.createElement("option"); made.value = value; made.textContent = text; return made; };
  $("generator").replaceChildren(...generators.map((one) => option(one.name, one.name)));
  $("start").replaceChildren(...starts.map((name) => option(name, name)));
  const chosen = () => generators.find((one) => one.name === $("generator").value);
  $("generator").addEventListener("change", () => {
    const one = chosen();
    $("call").value = one.with ? `${one.name}:${one.with}` : one.name;
    $("generator-note").textContent = `${one.summary} (${one.place})`;
  });
}

/** The planes that can be shown. */
export function fillViews(d, columns, choice) {
  $("view-row").hidden = d < 3;
  const names = (i) => columns[i] ?? `x${i + 1}`;
  const pairs = [["limit", "the limit's plane"]];
  for (let i = 0; i < Math.min(d, 8); i++) for (let j = i + 1; j < Math.min(d, 8); j++) pairs.push([`${i},${j}`, `${names(i)}, ${names(j)}`]);
  $("view").replaceChildren(...pairs.map(([value, text]) => { const made = document.createElement("option"); made.value = value; made.textContent = text; return made; }));
  $("view").value = choice;
}
