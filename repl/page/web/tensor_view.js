// One tensor as pictures: histogram, heat map, statistics, layout, its gradient beside it, its picture, its values.
import {make} from './dom.js';
import {bytes, count, number, shape} from './format.js';
import {heatMap} from './heat_map.js';
import {histogram} from './histogram.js';

// open(name), graph(name): to another tensor, to its graph; pan(at): see heat_map.js; small: in the terminal.
export function tensorView(data, {open = null, graph = null, pan = null, small = false} = {}) {
  if (data.problem) return make('p', {class: 'empty'}, data.problem);
  const row = data.row ?? {};
  const parts = [
    make('div', {class: 'chips'}, chips(row), graph && row.requires_grad && make('button', {type: 'button', class: 'quiet to-graph', onclick: () => graph(data.name)}, 'Autograd graph →')),
    row.shares && make('p', {class: 'small'}, row.same ? 'The same tensor as ' : 'Shares its memory with ', link(row.shares, open), '.'),
    data.picture && make('img', {class: 'picture pixelated', src: `data:image/png;base64,${data.picture}`, alt: `${data.name} as a picture`}),
    side('Values', data, row, pan),
    data.grad && side('Gradient', data.grad, data.grad.row ?? {}, pan),
    make('div', {class: 'facts-of'}, statistics(row), layout(data.layout, row)),
    data.values && make('details', {open: !small}, make('summary', {}, 'As it prints'), make('pre', {class: 'values'}, data.values)),
  ];
  return make('div', {class: `tensor-view${small ? ' small-view' : ''}`}, small && make('div', {class: 'view-name'}, link(data.name, open)), parts);
}

const link = (name, open) => (open ? make('a', {href: '#inspector', onclick: (event) => { event.preventDefault(); open(name); }}, name) : make('b', {}, name));

function chips(row) {
  const words = [row.type && row.type !== 'Tensor' && row.type, shape(row.shape), row.dtype, row.device, bytes(row.bytes),
                 row.requires_grad && (row.grad_fn || 'requires grad'), row.contiguous === false && 'not contiguous'];
  return words.filter(Boolean).map((word) => make('span', {class: 'chip'}, word));
}

function side(title, data, row, pan) {
  if (!data.histogram && !data.heat) return null;
  const isEmpty = data.histogram && data.histogram.counts.every((n) => n === 0);
  return make('section', {class: 'side'}, make('h3', {}, title),
    data.heat && heatMap(data.heat, {pan, word: `${title} as a heat map`}),
    data.histogram && !isEmpty && histogram(data.histogram, `${title} as a histogram`),
    title === 'Gradient' && row.statistics && make('p', {class: 'dim small'}, `mean ${number(row.statistics.mean)}, std ${number(row.statistics.std)}`));
}

function statistics(row) {
  const s = row.statistics;
  if (!s) return make('p', {class: 'dim small'}, 'No statistics: it is empty or out of reach.');
  const entries = [['min', s.min], ['mean', s.mean], ['max', s.max], ['std', s.std]].map(([name, value]) => [name, number(value, 6), false]);
  entries.push(['nan', count(s.nans ?? 0), s.nans > 0], ['inf', count(s.infinities ?? 0), s.infinities > 0]);
  return make('section', {}, make('h3', {}, 'Statistics', (s.sampled || s.magnitudes) && make('span', {class: 'dim'}, `${s.magnitudes ? ' of the magnitudes' : ''}${s.sampled ? ' of a sample' : ''}`)), grid(entries));
}

function layout(data, row) {
  if (!data) return null;
  const elements = (row.shape ?? []).reduce((a, b) => a * b, 1);
  return make('section', {}, make('h3', {}, 'Layout'), grid([
    ['strides', shape(data.strides), false], ['offset', count(data.offset ?? 0), false], ['elements', count(elements), false],
    ['version', String(data.version ?? ''), false]]));
}

const grid = (entries) => make('dl', {class: 'facts'}, entries.map(([name, value, isBad]) =>
  make('div', {class: isBad ? 'bad' : ''}, make('dt', {}, name), make('dd', {}, value))));
