// Bars of how often which numbers occur.
import {make, makeSvg} from './dom.js';
import {count, number, toNumber} from './format.js';

const kWidth = 300, kHeight = 72;

export function histogram({low, high, counts}, word = 'Histogram') {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((a, b) => a + b, 0);
  const step = kWidth / counts.length;
  const from = toNumber(low), width = (toNumber(high) - from) / counts.length;
  const bars = counts.map((n, i) => {
    const height = n === 0 ? 0 : Math.max(1.5, n / most * kHeight);
    const title = `${number(from + i * width)} to ${number(from + (i + 1) * width)}: ${count(n)}`;
    return makeSvg('g', {class: 'bar-of'},
      makeSvg('rect', {class: 'hit', x: i * step, y: 0, width: step, height: kHeight}),
      makeSvg('rect', {class: 'bar-full', x: (i * step + step * 0.06).toFixed(2), y: (kHeight - height).toFixed(2), width: (step * 0.88).toFixed(2), height: height.toFixed(2), rx: 1}),
      makeSvg('title', {}, title));
  });
  const zero = from < 0 && toNumber(high) > 0 ? -from / (toNumber(high) - from) * kWidth : null;
  const svg = makeSvg('svg', {viewBox: `0 0 ${kWidth} ${kHeight}`, preserveAspectRatio: 'none', role: 'img',
                              'aria-label': `${word}: ${count(total)} numbers from ${number(low)} to ${number(high)}`}, bars,
    zero === null ? [] : [makeSvg('line', {class: 'zero', x1: zero, x2: zero, y1: 0, y2: kHeight})]);
  return make('figure', {class: 'histogram'}, svg,
    make('figcaption', {}, make('span', {}, number(low)), make('span', {class: 'dim'}, `${count(total)} numbers`), make('span', {}, number(high))));
}
