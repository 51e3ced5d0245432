// A heat map on a canvas: two colours about zero where there are both signs, one otherwise. Pointing at a cell, or going to it with the arrow
// keys, says its value; of more dimensions the leading ones are chosen below.
import {make, onTheme} from './dom.js';
import {count, number, shape, toNumber} from './format.js';

// Perceptually even from pale to deep, in both themes; stops of [r, g, b].
const kScales = {
  light: {up: [[246, 247, 249], [120, 196, 186], [15, 118, 110], [4, 56, 53]], down: [[246, 247, 249], [240, 182, 112], [194, 101, 26], [107, 47, 5]]},
  dark: {up: [[30, 35, 43], [19, 98, 92], [69, 183, 170], [205, 245, 238]], down: [[30, 35, 43], [128, 70, 22], [226, 148, 66], [255, 232, 196]]},
};

function along(stops, t) {
  const at = Math.max(0, Math.min(1, t)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  return stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * (at - i)));
}

function colourOf(value, low, high, scale) {
  if (low < 0 && high > 0) {
    const most = Math.max(-low, high);
    return value >= 0 ? along(scale.up, value / most) : along(scale.down, -value / most);
  }
  if (high === low) return along(scale.up, 0.5);
  return high <= 0 ? along(scale.down, (high - value) / (high - low)) : along(scale.up, (value - low) / (high - low));
}

// pan(at): another place in the leading dimensions is wanted.
export function heatMap(heat, {pan = null, word = 'Heat map'} = {}) {
  const {rows, columns, values} = heat;
  const low = toNumber(heat.low), high = toNumber(heat.high);
  const canvas = make('canvas', {width: String(columns), height: String(rows), tabindex: '0', role: 'img',
                                 'aria-label': `${word}, ${rows} rows, ${columns} columns, from ${number(low)} to ${number(high)}. Arrow keys go from value to value.`});
  const says = make('span', {class: 'heat-says', 'aria-live': 'polite'}, '');
  const spot = make('div', {class: 'heat-spot', hidden: true});
  const place = make('div', {class: 'heat-place'}, canvas, spot);
  // Cells are square as long as that is neither tiny nor huge.
  const cell = Math.max(1, Math.min(28, 340 / columns, 260 / rows));
  place.style.width = columns * cell < 48 ? '48px' : `${Math.round(columns * cell)}px`;
  place.style.aspectRatio = String(Math.max(0.2, Math.min(columns / rows, 24)));
  if (columns / rows > 24 || columns * cell < 48) place.style.minHeight = '16px';

  const paint = () => {
    const scale = kScales[document.documentElement.dataset.theme] ?? kScales.light;
    const pixels = new ImageData(columns, rows);
    for (let i = 0; i < rows * columns; ++i) {
      const value = toNumber(values[i]);
      const [r, g, b] = Number.isFinite(value) ? colourOf(value, low, high, scale) : Number.isNaN(value) ? [214, 51, 132] : value > 0 ? [124, 58, 237] : [76, 29, 149];
      pixels.data.set([r, g, b, 255], i * 4);
    }
    canvas.getContext('2d').putImageData(pixels, 0, 0);
  };
  paint();
  const repaint = () => { if (canvas.isConnected) paint(); else document.removeEventListener('theme', repaint); };
  onTheme(repaint);

  let at = [0, 0];
  const of = heat.of ?? [rows, columns];
  const isAll = of[0] === rows && of[1] === columns;
  const show = (row, column) => {
    at = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
    const where = isAll ? at : [Math.floor(at[0] * of[0] / rows), Math.floor(at[1] * of[1] / columns)];
    const lead = heat.leading?.length ? [...heat.at ?? heat.leading.map(() => 0)] : [];
    says.textContent = `[${[...lead, ...where].join(', ')}]${isAll ? '' : ' about'}  ${number(values[at[0] * columns + at[1]], 6)}`;
    spot.hidden = false;
    Object.assign(spot.style, {left: `${at[1] / columns * 100}%`, top: `${at[0] / rows * 100}%`, width: `${100 / columns}%`, height: `${100 / rows}%`});
  };
  const leave = () => { spot.hidden = true; says.textContent = ''; };
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    show(Math.floor((event.clientY - box.top) / box.height * rows), Math.floor((event.clientX - box.left) / box.width * columns));
  });
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('blur', leave);
  canvas.addEventListener('focus', () => { if (canvas.matches(':focus-visible')) show(...at); });
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    show(at[0] + step[0], at[1] + step[1]);
  });

  return make('figure', {class: 'heat'}, place,
    make('figcaption', {}, legend(low, high), says),
    !isAll && make('div', {class: 'dim small'}, `${count(rows)} × ${count(columns)} of ${shape(of)}`),
    heat.leading?.length > 0 && pan && panes(heat, pan));
}

function legend(low, high) {
  const bar = make('canvas', {width: '64', height: '1', class: 'scale', 'aria-hidden': 'true'});
  const paint = () => {
    const scale = kScales[document.documentElement.dataset.theme] ?? kScales.light;
    const pixels = new ImageData(64, 1);
    for (let i = 0; i < 64; ++i) pixels.data.set([...colourOf(low + (high - low) * i / 63, low, high, scale), 255], i * 4);
    bar.getContext('2d').putImageData(pixels, 0, 0);
  };
  paint();
  const repaint = () => { if (bar.isConnected) paint(); else document.removeEventListener('theme', repaint); };
  onTheme(repaint);
  return make('span', {class: 'scale-of'}, number(low), bar, number(high));
}

function panes(heat, pan) {
  const at = [...heat.at ?? heat.leading.map(() => 0)];
  return make('div', {class: 'pan'}, heat.leading.map((size, dim) => {
    const word = make('output', {}, `${at[dim]} of ${size}`);
    const slider = make('input', {type: 'range', min: '0', max: String(size - 1), value: String(at[dim]), 'aria-label': `Index in dimension ${dim}`, oninput: () => {
      at[dim] = Number(slider.value);
      word.textContent = `${at[dim]} of ${size}`;
      pan([...at]);
    }});
    return make('label', {}, `dim ${dim}`, slider, word);
  }));
}
