// Pictures, points and films to take away. `draw(pen, share)` draws the moment at that share of the run.

import { Gif, colourTable } from "./gif.js";
import { canvasPen, colours, svgPen } from "./pens.js";
import { state } from "./state.js";

const SIDE = 640, SMALL = 480; // pixels of pictures and films, and of a GIF
const SECONDS = 8, STILL = 2; // a film moves for so long, and stays at its end
const PICTURES = 100; // of a GIF

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

export function saveSvg(draw, share) {
  const pen = svgPen(SIDE, SIDE, colours().paper);
  draw(pen, share);
  save("tacit-lab.svg", new Blob([pen.done()], { type: "image/svg+xml" }));
}

/** A canvas that is on no page, and the pen that draws on it. */
function sheet(side, ratio = 1) {
  const canvas = document.createElement("canvas");
  canvas.getContext("2d", { willReadFrequently: true });
  return [canvas, () => canvasPen(canvas, { width: side, height: side, ratio })];
}

export function savePng(draw, share) {
  const [canvas, pen] = sheet(SIDE, 2);
  draw(pen(), share);
  canvas.toBlob((blob) => save("tacit-lab.png", blob), "image/png");
}

const nextFrame = () => new Promise((resolve) => setTimeout(resolve));

export async function saveGif(draw, tell) {
  const [canvas, pen] = sheet(SMALL);
  const picture = (i) => {
    draw(pen(), i / (PICTURES - 1));
    return canvas.getContext("2d").getImageData(0, 0, SMALL, SMALL).data;
  };
  const gif = new Gif(SMALL, SMALL, colourTable(Array.from({ length: 10 }, (_, i) => picture((i * (PICTURES - 1)) / 9))));
  for (let i = 0; i < PICTURES; i++) {
    gif.add(picture(i), i === PICTURES - 1 ? 100 * STILL : Math.round((100 * SECONDS) / PICTURES));
    if (i % 5 === 0) { tell(i / PICTURES); await nextFrame(); }
  }
  save("tacit-lab.gif", gif.done());
}

const FILMS = ["video/mp4;codecs=avc1.42E01E", "video/mp4", "video/webm"]; // what plays nearly everywhere first

/** Record a canvas while it is drawn; the kind of film is the first that this browser can write. */
export async function saveFilm(draw, tell) {
  const kind = FILMS.find((type) => globalThis.MediaRecorder?.isTypeSupported(type));
  if (!kind) throw new Error("this browser cannot record films; take a GIF");
  const [canvas, pen] = sheet(SIDE), parts = [];
  draw(pen(), 0);
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 4e6 });
  recorder.ondataavailable = (event) => parts.push(event.data);
  const stopped = new Promise((resolve, reject) => { recorder.onstop = resolve; recorder.onerror = () => reject(new Error("the film could not be recorded; take a GIF")); });
  recorder.start();
  await new Promise((resolve) => {
    const begun = performance.now(), timer = setInterval(() => {
      const share = (performance.now() - begun) / (1000 * SECONDS);
      draw(pen(), Math.min(share, 1));
      tell(Math.min(share, 1));
      if (share > 1 + STILL / SECONDS) { clearInterval(timer); resolve(); }
    }, 33);
  });
  recorder.stop();
  await stopped;
  save(`tacit-lab.${kind.slice(6).split(";")[0]}`, new Blob(parts, { type: kind }));
}
