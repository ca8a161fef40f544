// The form: what it says is the setting, and the setting is what it shows.

import { $ } from "./dom.js";
import { state } from "./state.js";

const SCALES = /^(.*):(.*)$/;

/** Move a slider; it may not have the very place of the value, which counts until the slider is moved. */
function setSlider(id, value, at) {
  $(id).value = at;
  $(id).dataset.exact = value;
}

/** The value of a slider of which the place is that value, or its logarithm. */
const linear = (id) => $(id).dataset.exact ?? String(Number($(id).value));
const powerOfTen = (id) => $(id).dataset.exact ?? Number((10 ** Number($(id).value)).toPrecision(3)).toString();

/** Show the state in the form. */
export function showControls() {
  const { setting, seed, descent } = state, [, start, scale] = setting.init.match(SCALES) ?? [null, "balanced", "1e-4"];
  $("train").value = setting.train;
  $("start").value = start;
  fitControls();
  $("width").value = setting.width;
  $("activation").value = setting.activation.startsWith("leaky") ? "leaky" : "0";
  if (setting.activation.startsWith("leaky:")) setSlider("slope", setting.activation.slice(6), setting.activation.slice(6));
  setSlider("scale", scale, Math.log10(Number(scale)));
  $("loss").value = setting.loss;
  $("seed").value = seed;
  $("bias").value = state.bias === null ? "" : String(state.bias);
  $("descent").checked = descent.on;
  setSlider("lr", String(descent.lr), Math.log10(descent.lr));
  $("step").value = descent.step;
  $("epochs").value = String(descent.epochs);
  fitControls();
}

/** Texts beside sliders, and what can be chosen: fixed output weights are half +, half −, and no start is balanced with them. */
function fitControls() {
  const first = $("train").value === "first", width = $("width").value;
  for (const key of ["min", "step"]) $("width")[key] = first ? 2 : 1;
  $("width").value = width; // which it may have moved in between
  for (const option of $("start").options) option.disabled = first && option.value.startsWith("balanced");
  if ($("start").selectedOptions[0]?.disabled) $("start").value = "gaussian";
  $("width-text").textContent = $("width").value;
  $("slope-row").hidden = $("activation").value !== "leaky";
  $("slope-text").textContent = linear("slope");
  $("scale-text").textContent = powerOfTen("scale");
  $("lr-text").textContent = powerOfTen("lr");
  $("descent-rows").hidden = !$("descent").checked;
}

/** Take the state from the form. */
export function readControls() {
  fitControls();
  const leaky = $("activation").value === "leaky", bias = Number($("bias").value.replace(",", "."));
  state.setting = {
    activation: leaky ? `leaky:${linear("slope")}` : "relu",
    train: $("train").value,
    width: Number($("width").value),
    init: `${$("start").value}:${powerOfTen("scale")}`,
    loss: $("loss").value,
    output_weight: state.setting.output_weight,
  };
  const seed = Math.trunc(Number($("seed").value));
  state.seed = Number.isFinite(seed) ? Math.min(Math.max(seed, 0), 4294967295) : 0;
  state.bias = $("bias").value.trim() === "" || !Number.isFinite(bias) ? null : bias;
  state.descent = { on: $("descent").checked, lr: Number(powerOfTen("lr")), step: $("step").value, epochs: Number($("epochs").value) };
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

/** The planes that can be shown: that of the limit, or any two columns. */
export function fillViews(d, columns) {
  $("view-row").hidden = d < 3;
  $("columns-row").hidden = true;
  $("view").value = "limit";
  for (const [id, chosen] of [["view-x", 0], ["view-y", 1]]) {
    $(id).replaceChildren(...Array.from({ length: d }, (_, i) => new Option(columns[i] ?? `x${i + 1}`, i)));
    $(id).value = chosen;
  }
}

/** The plane that is chosen: "limit", or the numbers of two different columns. */
export function chosenView(d) {
  $("columns-row").hidden = $("view").value === "limit";
  if ($("view-x").value === $("view-y").value) $("view-y").value = (Number($("view-x").value) + 1) % d;
  return $("view").value === "limit" ? "limit" : `${$("view-x").value},${$("view-y").value}`;
}
