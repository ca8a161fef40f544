// Numbers as people write them.

export const digits = (x, n = 4) => (x === null || x === undefined ? "–" : String(Number(x.toPrecision(n))).replace("-", "−"));

const raised = (n) => String(n).replace(/[-0-9]/g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));

/** 10 to this power, which may be too small or large for a number: 10⁻¹², 10^−10¹³, 10^−3.4·10¹⁰. */
export function power(log10) {
  const size = Math.abs(log10), deep = Math.log10(size);
  if (size < 1e5) return `10${raised(Math.round(log10))}`;
  return `10^${log10 < 0 ? "−" : ""}${Number.isInteger(deep) ? power(deep) : fromLog10(deep)}`;
}

/** A number of which the logarithm is known: 0.0123, 4.5·10⁻⁷, 10⁻¹¹⁵⁹. */
export function fromLog10(log10) {
  if (log10 > -4 && log10 < 5) return digits(10 ** log10);
  if (Math.abs(log10) >= 100) return power(log10);
  const [mantissa, exponent] = (10 ** (log10 % 1 + 1)).toExponential(1).split("e");
  return `${mantissa}·${power(Math.trunc(log10) - 1 + Number(exponent))}`;
}

/** Round values between two, about this many: multiples of 1, 2 or 5 times a power of ten. */
export function roundValues(low, high, about = 3) {
  const rough = (high - low) / about, ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * ([1, 2, 5].find((k) => k * ten >= rough) ?? 10);
  const values = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) values.push(i === 0 ? 0 : i * step);
  return values;
}
