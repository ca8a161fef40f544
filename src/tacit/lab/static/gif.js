// A GIF of pictures of one size: one table of colours, each picture only where it differs from the last.

const CLEAR = 256, END = 257, SAME = 255; // codes of LZW; the index of "as it was"
const bin = (data, i) => ((data[i] >> 3) << 11) | ((data[i + 1] >> 2) << 5) | (data[i + 2] >> 3);
const word = (x) => [x & 255, x >> 8];

/** The most common colours of some pictures, at most 255. */
export function colourTable(pictures) {
  const counts = new Uint32Array(65536), sums = new Float64Array(3 * 65536);
  for (const data of pictures) {
    for (let i = 0; i < data.length; i += 4) {
      const b = bin(data, i);
      counts[b]++;
      for (let c = 0; c < 3; c++) sums[3 * b + c] += data[i + c];
    }
  }
  const common = [...counts.keys()].filter((b) => counts[b]).sort((one, other) => counts[other] - counts[one]).slice(0, SAME);
  return common.map((b) => [0, 1, 2].map((c) => Math.round(sums[3 * b + c] / counts[b])));
}

export class Gif {
  constructor(width, height, table) {
    this.table = table;
    this.nearest = new Int16Array(65536).fill(-1);
    this.size = [...word(width), ...word(height)];
    this.codes = new Int16Array(4096 * 256);
    const colours = [...table, ...Array(256 - table.length).fill([0, 0, 0])].flat();
    const forever = [0x21, 0xff, 11, ...new TextEncoder().encode("NETSCAPE2.0"), 3, 1, 0, 0, 0];
    this.parts = [Uint8Array.from([...new TextEncoder().encode("GIF89a"), ...this.size, 0xf7, 0, 0, ...colours, ...forever])];
  }

  /** Add the RGBA bytes of a picture that is shown for so many hundredths of a second. */
  add(data, hundredths) {
    const before = this.before, pixels = new Uint8Array(data.length / 4);
    for (let k = 0, i = 0; k < pixels.length; k++, i += 4) {
      const same = before && before[i] === data[i] && before[i + 1] === data[i + 1] && before[i + 2] === data[i + 2];
      pixels[k] = same ? SAME : this.indexOf(data, i);
    }
    this.before = data;
    const control = [0x21, 0xf9, 4, 0x05, ...word(hundredths), SAME, 0];
    this.parts.push(Uint8Array.from([...control, 0x2c, 0, 0, 0, 0, ...this.size, 0, 8]), blocks(this.packed(pixels)));
  }

  indexOf(data, i) {
    const b = bin(data, i);
    if (this.nearest[b] < 0) {
      let least = Infinity;
      this.table.forEach(([red, green, blue], index) => {
        const far = (red - data[i]) ** 2 + (green - data[i + 1]) ** 2 + (blue - data[i + 2]) ** 2;
        if (far < least) [least, this.nearest[b]] = [far, index];
      });
    }
    return this.nearest[b];
  }

  /** LZW, as GIF has it: codes grow from 9 to 12 bits, then everything is forgotten. */
  packed(pixels) {
    const bytes = [], codes = this.codes.fill(0);
    let buffer = 0, held = 0, size = 9, next = END + 1, prefix = pixels[0];
    const put = (code) => {
      buffer |= code << held;
      for (held += size; held >= 8; held -= 8, buffer >>>= 8) bytes.push(buffer & 255);
    };
    put(CLEAR);
    for (let i = 1; i < pixels.length; i++) {
      const key = prefix * 256 + pixels[i];
      if (codes[key]) { prefix = codes[key]; continue; }
      put(prefix);
      prefix = pixels[i];
      if (next === 4096) {
        put(CLEAR);
        codes.fill(0);
        [size, next] = [9, END + 1];
      } else {
        if (next >= 1 << size) size++;
        codes[key] = next++;
      }
    }
    put(prefix);
    put(END);
    if (held) bytes.push(buffer & 255);
    return bytes;
  }

  done() {
    return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}

function blocks(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 255) parts.push(Math.min(255, bytes.length - i), ...bytes.slice(i, i + 255));
  return Uint8Array.from([...parts, 0]);
}
