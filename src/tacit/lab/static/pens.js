// Two ways to draw the same picture: on a canvas, and as the text of an SVG.

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(["paper", "ink", "soft", "line", "edge", "blue", "orange", "green", "amber", "red", "plus", "minus"].map((name) => [name, named(name)]));
}

/** A canvas at the resolution of the screen, or of this size; sizes are in CSS pixels. */
export function canvasPen(canvas, { width = canvas.clientWidth, height = canvas.clientHeight, ratio = devicePixelRatio || 1 } = {}) {
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const at = canvas.getContext("2d");
  at.setTransform(ratio, 0, 0, ratio, 0, 0);
  at.clearRect(0, 0, width, height);
  at.lineCap = at.lineJoin = "round";
  const style = ({ stroke, fill, line = 1, alpha = 1, dash = [] }) => {
    at.globalAlpha = alpha;
    at.lineWidth = line;
    at.setLineDash(dash);
    if (fill) { at.fillStyle = fill; at.fill(); }
    if (stroke) { at.strokeStyle = stroke; at.stroke(); }
    at.globalAlpha = 1;
  };
  return {
    width, height,
    path(points, look, closed = false) {
      at.beginPath();
      points.forEach(([x, y], i) => (i ? at.lineTo(x, y) : at.moveTo(x, y)));
      if (closed) at.closePath();
      style(look);
    },
    circle(x, y, r, look) { at.beginPath(); at.arc(x, y, r, 0, 2 * Math.PI); style(look); },
    rects(list, look) { at.beginPath(); for (const [x, y, w, h] of list) at.rect(x, y, w, h); style(look); },
    text(words, x, y, { fill, size = 11, align = "left", bold = false }) {
      at.font = `${bold ? "600 " : ""}${size}px system-ui, "Liberation Sans", sans-serif`;
      at.fillStyle = fill;
      at.textAlign = align;
      at.fillText(words, x, y);
    },
    clip(x, y, w, h, inner) { at.save(); at.beginPath(); at.rect(x, y, w, h); at.clip(); inner(); at.restore(); },
  };
}

const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const short = (x) => String(Math.round(100 * x) / 100);

/** The same calls, collected as SVG; `done()` gives the text. */
export function svgPen(width, height, paper) {
  const parts = [];
  let clips = 0;
  const style = ({ stroke, fill, line = 1, alpha = 1, dash = [] }) =>
    `fill="${fill ?? "none"}"${stroke ? ` stroke="${stroke}" stroke-width="${short(line)}" stroke-linecap="round" stroke-linejoin="round"` : ""}` +
    `${alpha < 1 ? ` opacity="${short(alpha)}"` : ""}${dash.length ? ` stroke-dasharray="${dash.join()}"` : ""}`;
  return {
    width, height,
    path(points, look, closed = false) {
      const d = points.map(([x, y], i) => `${i ? "L" : "M"}${short(x)} ${short(y)}`).join("") + (closed ? "Z" : "");
      parts.push(`<path d="${d}" ${style(look)}/>`);
    },
    circle(x, y, r, look) { parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(r)}" ${style(look)}/>`); },
    rects(list, look) {
      const d = list.map(([x, y, w, h]) => `M${short(x)} ${short(y)}h${short(w)}v${short(h)}h${short(-w)}z`).join("");
      parts.push(`<path d="${d}" ${style(look)} shape-rendering="crispEdges"/>`);
    },
    text(words, x, y, { fill, size = 11, align = "left", bold = false }) {
      const anchor = { left: "start", center: "middle", right: "end" }[align];
      parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${fill}" font-size="${size}" text-anchor="${anchor}"${bold ? ' font-weight="600"' : ""}>${escaped(words)}</text>`);
    },
    clip(x, y, w, h, inner) {
      parts.push(`<clipPath id="c${++clips}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath><g clip-path="url(#c${clips})">`);
      inner();
      parts.push("</g>");
    },
    done: () => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}</svg>\n`,
  };
}
