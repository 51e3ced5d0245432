// A table of tensors that sorts. Of many rows only those in sight stand in the page, and an update changes only cells that read otherwise.
import {fitColumns} from './columns.js';
import {make, perFrame} from './dom.js';
import {bytes, number, shape, toNumber} from './format.js';
import {shortNames} from './short_names.js';

const kRowHeight = 26;  // pixels; --row in inspector.css

const statistic = (name) => ({
  key: name, title: name, isNumber: true,
  text: (row) => (row.statistics ? `${row.statistics.sampled ? '~' : ''}${number(row.statistics[name])}` : '–'),
  order: (row) => (row.statistics ? toNumber(row.statistics[name]) : NaN),
});

const kOfMagnitudes = 'min, mean, max and std are of the magnitudes';
const isMagnitude = (row) => Boolean(row.statistics?.magnitudes);
const gradText = (row) => (row.requires_grad ? row.grad_fn || 'leaf' : '');

// A column with `isWanted` is there when a row has something to say in it; one with `least` can be made so narrow, in letters.
const kColumns = [
  {key: 'name', title: 'name', least: 18, text: (row) => row.name, order: (row) => row.name},
  {key: 'shape', title: 'shape', least: 10, text: (row) => shape(row.shape), order: (row) => (row.shape ?? []).reduce((a, b) => a * b, 1)},
  {key: 'dtype', title: 'dtype', least: 11, text: (row) => (isMagnitude(row) ? `|z| ${row.dtype}` : row.dtype), order: (row) => row.dtype},
  statistic('min'), statistic('mean'), statistic('max'), statistic('std'),
  {key: 'bad', title: 'nan/inf', hint: 'NaNs and infinities', isNumber: true, text: badText, order: (row) => badCount(row), isWanted: (row) => badCount(row) > 0},
  {key: 'bytes', title: 'bytes', isNumber: true, text: (row) => bytes(row.bytes), order: (row) => row.bytes},
  {key: 'grad', title: 'grad', least: 6, text: gradText, order: gradText},
  {key: 'device', title: 'device', text: (row) => row.device, order: (row) => row.device, isWanted: (row) => row.device !== 'cpu'},
  {key: 'shares', title: 'shares', least: 8, hint: 'whose memory it stands on', text: (row) => (row.shares ? `${row.same ? 'is' : 'of'} ${row.shares}` : ''), order: (row) => row.shares ?? '', isWanted: (row) => Boolean(row.shares)},
];

function badCount(row) { return row.statistics ? (row.statistics.nans ?? 0) + (row.statistics.infinities ?? 0) : 0; }

function badText(row) {
  const {nans = 0, infinities = 0} = row.statistics ?? {};
  return [nans && `${nans} nan`, infinities && `${infinities} inf`].filter(Boolean).join(' ');
}

const names = new Intl.Collator('en', {numeric: true});

function compare(a, b) {
  if (typeof a === 'string') return names.compare(a, b);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);  // nothing known comes last
  return a - b;
}

export class TensorTable {
  #open;
  #rows = [];      // all
  #shown = [];     // after filter and order
  #changes = new Map();  // name → 'new' | 'changed'
  #filter = '';
  #sort = {column: null, down: false};
  #pool = [];      // <tr> in sight
  #focus = 0;      // of #shown
  #wanted = kColumns;   // those in which a row has something to say
  #longest = new Map(); // key → letters of the longest text of the column
  #nameLetters = 30;
  #shortNames = new Map();
  #fitted = '';         // for what the columns were chosen last
  #away = [];           // columns that there is no room for
  #draw = perFrame(() => this.#drawRows());
  #resize = perFrame(() => { this.#fit(); this.#drawRows(); });

  // open(name): a row was chosen. rows: as many fit without scrolling; 0: what its place has.
  constructor({open, rows = 0}) {
    this.#open = open;
    this.head = make('tr', {'aria-rowindex': '1'}, kColumns.map((column) => make('th', {scope: 'col', class: `column-${column.key}${column.isNumber ? ' number' : ''}`, 'aria-sort': 'none'},
      make('button', {type: 'button', class: 'sort', title: column.hint ?? `Sort by ${column.title}`, onclick: () => this.#sortBy(column)}, column.title))));
    this.above = make('tr', {class: 'gap', 'aria-hidden': 'true'}, make('td', {colspan: String(kColumns.length)}));
    this.below = make('tr', {class: 'gap', 'aria-hidden': 'true'}, make('td', {colspan: String(kColumns.length)}));
    this.body = make('tbody', {}, this.above, this.below);
    this.columns = kColumns.map(() => make('col'));
    this.table = make('table', {class: 'tensors', role: 'grid', 'aria-label': 'Tensors'}, make('colgroup', {}, this.columns), make('thead', {}, this.head), this.body);
    this.element = make('div', {class: 'tensors-scroll'}, this.table);
    if (rows) this.element.style.maxHeight = `${(rows + 1.5) * kRowHeight}px`;
    this.element.addEventListener('scroll', () => { this.#showMore(); this.#draw(); }, {passive: true});
    new ResizeObserver(this.#resize).observe(this.element);
    this.body.addEventListener('click', (event) => this.#click(event));
    this.body.addEventListener('keydown', (event) => this.#key(event));
  }

  // `changes`: what to mark; the rows are not changed by anybody afterwards.
  show(rows, changes = new Map()) {
    this.#rows = rows;
    this.#changes = changes;
    this.#wanted = kColumns.filter(({isWanted}) => !isWanted || rows.some(isWanted));
    this.#longest = new Map(this.#wanted.map(({key, text}) => [key, rows.reduce((most, row) => Math.max(most, (text(row) ?? '').length), 0)]));
    this.#fit();
    this.#arrange();
  }

  // Chooses the columns for the room that there is. A table that is not seen is fitted when it is.
  #fit() {
    const room = this.element.clientWidth;
    if (room === 0) return;
    const key = JSON.stringify([room, ...this.#longest]);
    if (key !== this.#fitted) {
      const {widths, nameLetters} = fitColumns(this.#wanted, this.#longest, letterOf(this.table), room);
      this.#away = this.#wanted.filter((column) => !widths.has(column.key));
      kColumns.forEach((column, i) => {
        this.table.classList.toggle(`no-${column.key}`, !widths.has(column.key));
        this.columns[i].hidden = !widths.has(column.key);
        this.columns[i].style.width = `${widths.get(column.key)}px`;
      });
      for (const gap of [this.above, this.below]) gap.firstChild.colSpan = widths.size;
      this.table.style.width = `${[...widths.values()].reduce((a, b) => a + b, 0)}px`;
      this.#fitted = key;
      this.#nameLetters = nameLetters;
      this.#showMore();
    }
    this.#shortNames = shortNames(this.#rows.map((row) => row.name), this.#nameLetters);
  }

  // Whether something stands beyond the right edge.
  #showMore() {
    const {scrollLeft, scrollWidth, clientWidth} = this.element;
    this.element.classList.toggle('more', scrollWidth - clientWidth - scrollLeft > 1);
  }

  filter(word) {
    this.#filter = word.trim().toLowerCase();
    this.#arrange();
  }

  get count() { return this.#shown.length; }

  #arrange() {
    const words = this.#filter.split(/\s+/).filter(Boolean);
    const fits = (row) => words.every((word) => `${row.name} ${shape(row.shape)} ${row.dtype} ${row.device} ${row.grad_fn ?? ''}`.toLowerCase().includes(word));
    this.#shown = words.length === 0 ? this.#rows.slice() : this.#rows.filter(fits);
    const {column, down} = this.#sort;
    if (column) {
      const keyed = this.#shown.map((row) => [column.order(row), row]);
      keyed.sort(([a], [b]) => (down && !(Number.isNaN(a) || Number.isNaN(b)) ? compare(b, a) : compare(a, b)));
      this.#shown = keyed.map(([, row]) => row);
    }
    this.#focus = Math.max(0, Math.min(this.#focus, this.#shown.length - 1));
    this.table.setAttribute('aria-rowcount', String(this.#shown.length + 1));
    this.#drawRows();
  }

  #sortBy(column) {
    const {column: old, down} = this.#sort;
    if (old !== column) this.#sort = {column, down: Boolean(column.isNumber)};
    else if (down === Boolean(column.isNumber)) this.#sort = {column, down: !down};
    else this.#sort = {column: null, down: false};  // back to the order in which the names were given
    [...this.head.children].forEach((cell, i) => {
      const is = kColumns[i] === this.#sort.column;
      cell.setAttribute('aria-sort', is ? (this.#sort.down ? 'descending' : 'ascending') : 'none');
    });
    this.#arrange();
  }

  #range() {
    const height = this.element.clientHeight || 400;
    const first = Math.max(0, Math.floor(this.element.scrollTop / kRowHeight) - 4);
    return [first, Math.min(this.#shown.length, first + Math.ceil(height / kRowHeight) + 8)];
  }

  #drawRows() {
    const [first, end] = this.#range();
    while (this.#pool.length < end - first) {
      const row = make('tr', {}, kColumns.map((column) => make('td', {class: `column-${column.key}${column.isNumber ? ' number' : ''}`, role: 'gridcell'})));
      this.#pool.push(row);
      this.below.before(row);
    }
    while (this.#pool.length > end - first) this.#pool.pop().remove();
    setHeight(this.above, first * kRowHeight);
    setHeight(this.below, (this.#shown.length - end) * kRowHeight);
    for (let i = first; i < end; ++i) this.#fill(this.#pool[i - first], this.#shown[i], i);
  }

  #fill(element, row, index) {
    const change = this.#changes.get(row.name) ?? '';
    const isBad = badCount(row) > 0;
    const className = `${change}${isBad ? ' bad' : ''}${row.name.endsWith('.grad') ? ' of-gradient' : ''}`;
    if (element.className !== className) element.className = className;
    element.dataset.index = String(index);
    element.setAttribute('aria-rowindex', String(index + 2));
    element.tabIndex = index === this.#focus ? 0 : -1;
    kColumns.forEach((column, i) => {
      const cell = element.children[i];
      const whole = column.text(row) ?? '';
      const text = i === 0 ? this.#shortNames.get(row.name) ?? whole : whole;
      if (cell.firstChild?.data !== text) cell.textContent = text;
      const title = i === 0 ? this.#title(row, change) : column.key === 'dtype' && isMagnitude(row) ? kOfMagnitudes : column.least ? whole : '';
      if (cell.title !== title) cell.title = title;
    });
  }

  // All that the row has no room for.
  #title(row, change) {
    const away = this.#away.map((column) => [column, column.text(row) ?? '']).filter(([, text]) => text).map(([column, text]) => `${column.title} ${text}`);
    return [row.name, row.type, change && (change === 'new' ? 'new since the last block' : 'changed by the last block'), ...away,
            isMagnitude(row) && kOfMagnitudes, row.statistics?.sampled && 'numbers of a sample', row.contiguous === false && 'not contiguous'].filter(Boolean).join(' · ');
  }

  #click(event) {
    const row = event.target.closest('tr[data-index]');
    if (!row || getSelection().toString()) return;
    this.#focus = Number(row.dataset.index);
    this.#open?.(this.#shown[this.#focus].name);
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / kRowHeight) - 2);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const row = this.#shown[this.#focus];
      if (row) this.#open?.(row.name);
    } else if (steps[event.key] !== undefined && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      this.focusRow(Math.max(0, Math.min(this.#shown.length - 1, this.#focus + steps[event.key])));
    }
  }

  focusRow(index = this.#focus) {
    if (this.#shown.length === 0) return;
    this.#focus = index;
    const top = index * kRowHeight, {scrollTop, clientHeight} = this.element;
    const head = this.head.offsetHeight || kRowHeight;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + kRowHeight + head > scrollTop + clientHeight) this.element.scrollTop = top + kRowHeight + head - clientHeight;
    this.#drawRows();
    this.#pool.find((row) => row.dataset.index === String(index))?.focus({preventScroll: true});
  }
}

// Pixels of a letter; all are alike.
function letterOf(table) {
  const {fontSize, fontFamily} = getComputedStyle(table);
  const context = document.createElement('canvas').getContext('2d');
  context.font = `600 ${fontSize} ${fontFamily}`;
  return context.measureText('0'.repeat(20)).width / 20;
}

function setHeight(row, height) {
  const text = `${height}px`;
  if (row.firstChild.style.height !== text) row.firstChild.style.height = text;
  row.hidden = height === 0;
}
