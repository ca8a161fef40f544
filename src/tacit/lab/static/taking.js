// Pictures, points and films to take away.

import { colours, svgPen } from "./pens.js";
import { state } from "./state.js";

export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The points as a file that `tacit` reads to the same bits. */
export function csvText() {
  const d = state.points[0]?.length ?? 0;
  const names = state.columns.length === d ? state.columns : Array.from({ length: d }, (_, i) => `x${i + 1}`);
  const rows = state.points.map((point, i) => [...point.map(String), String(state.labels[i])].join());
  return [[...names.map(cell), "y"].join(), ...rows].join("\n") + "\n";
}

export function saveSvg(draw) {
  const pen = svgPen(640, 640, colours().paper);
  draw(pen);
  save("tacit-lab.svg", new Blob([pen.done()], { type: "image/svg+xml" }));
}

export function savePng(canvas) {
  canvas.toBlob((blob) => save("tacit-lab.png", blob), "image/png");
}

/** Record the canvas while `play` runs; the kind of film is what this browser can write. */
export async function saveFilm(canvas, play) {
  const kind = ["video/mp4", "video/webm"].find((type) => globalThis.MediaRecorder?.isTypeSupported(type));
  if (!kind) throw new Error("this browser cannot record films");
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 4e6 });
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start();
  await play();
  recorder.stop();
  await stopped;
  save(`tacit-lab.${kind.slice(6)}`, new Blob(parts, { type: kind }));
}
