// Numbers as a person reads them.

export function bytes(n) {
  if (n === null || n === undefined) return '';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (n >= 1024 && unit + 1 < units.length) { n /= 1024; ++unit; }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

// Numbers that JSON has no word for come as "nan", "inf", "-inf".
export function toNumber(value) {
  if (typeof value === 'number') return value;
  return {nan: NaN, inf: Infinity, '-inf': -Infinity}[value] ?? NaN;
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return '';
  const x = toNumber(value);
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x > 0 ? 'inf' : '-inf';
  if (x === 0) return '0';
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e7) return String(x).replace('-', '−');
  const rounded = Number(x.toPrecision(digits));
  const text = Math.abs(rounded) >= 10 ** Math.max(digits, 5) || size < 1e-3 ? rounded.toExponential() : String(rounded);
  return text.replace(/^-/, '−').replace('e+', 'e');
}

export const count = (n) => Number(n).toLocaleString('en').replaceAll(',', ' ');

export const shape = (sizes) => (typeof sizes === 'string' ? sizes : `[${(sizes ?? []).join(', ')}]`);

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '';
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
