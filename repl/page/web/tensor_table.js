// A table of tensors that sorts. Of many rows only those in sight stand in the page, and an update changes only cells that read otherwise.
import {make, perFrame} from './dom.js';
import {bytes, number, shape, toNumber} from './format.js';

const kRowHeight = 26;  // pixels; --row in inspector.css

const statistic = (name) => ({
  key: name, title: name, isNumber: true,
  text: (row) => (row.statistics ? number(row.statistics[name]) : '–'),
  order: (row) => (row.statistics ? toNumber(row.statistics[name]) : NaN),
});

// A column with `isWanted` is there when a row has something to say in it.
const kColumns = [
  {key: 'name', title: 'name', text: (row) => shortened(row.name), order: (row) => row.name},
  {key: 'shape', title: 'shape', text: (row) => shape(row.shape), order: (row) => (row.shape ?? []).reduce((a, b) => a * b, 1)},
  {key: 'dtype', title: 'dtype', text: (row) => row.dtype, order: (row) => row.dtype},
  statistic('min'), statistic('mean'), statistic('max'), statistic('std'),
  {key: 'bad', title: 'nan/inf', hint: 'NaNs and infinities', isNumber: true, text: badText, order: (row) => badCount(row), isWanted: (row) => badCount(row) > 0},
  {key: 'bytes', title: 'bytes', isNumber: true, text: (row) => bytes(row.bytes), order: (row) => row.bytes},
  {key: 'grad', title: 'grad', text: (row) => (row.requires_grad ? row.grad_fn || 'leaf' : ''), order: (row) => (row.requires_grad ? row.grad_fn || 'leaf' : '')},
  {key: 'device', title: 'device', text: (row) => row.device, order: (row) => row.device, isWanted: (row) => row.device !== 'cpu'},
  {key: 'shares', title: 'shares', hint: 'whose memory it stands on', text: (row) => (row.shares ? `${row.same ? 'is' : 'of'} ${row.shares}` : ''), order: (row) => row.shares ?? '', isWanted: (row) => Boolean(row.shares)},
];

// Of long names the ends tell them apart.
const shortened = (name) => (name.length > 27 ? `${name.slice(0, 9)}…${name.slice(-17)}` : name);

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
  #draw = perFrame(() => this.#drawRows());

  // open(name): a row was chosen. rows: as many fit without scrolling; 0: what its place has.
  constructor({open, rows = 0}) {
    this.#open = open;
    this.head = make('tr', {'aria-rowindex': '1'}, kColumns.map((column) => make('th', {scope: 'col', class: `column-${column.key}${column.isNumber ? ' number' : ''}`, 'aria-sort': 'none'},
      make('button', {type: 'button', class: 'sort', title: column.hint ?? `Sort by ${column.title}`, onclick: () => this.#sortBy(column)}, column.title))));
    this.above = make('tr', {class: 'gap', 'aria-hidden': 'true'}, make('td', {colspan: String(kColumns.length)}));
    this.below = make('tr', {class: 'gap', 'aria-hidden': 'true'}, make('td', {colspan: String(kColumns.length)}));
    this.body = make('tbody', {}, this.above, this.below);
    this.table = make('table', {class: 'tensors', role: 'grid', 'aria-label': 'Tensors'}, make('thead', {}, this.head), this.body);
    this.element = make('div', {class: 'tensors-scroll'}, this.table);
    if (rows) this.element.style.maxHeight = `${(rows + 1.5) * kRowHeight}px`;
    this.element.addEventListener('scroll', this.#draw, {passive: true});
    new ResizeObserver(this.#draw).observe(this.element);
    this.body.addEventListener('click', (event) => this.#click(event));
    this.body.addEventListener('keydown', (event) => this.#key(event));
  }

  // `changes`: what to mark; the rows are not changed by anybody afterwards.
  show(rows, changes = new Map()) {
    this.#rows = rows;
    this.#changes = changes;
    for (const {key, isWanted} of kColumns) if (isWanted) this.table.classList.toggle(`no-${key}`, !rows.some(isWanted));
    this.#arrange();
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
      const text = column.text(row) ?? '';
      if (cell.firstChild?.data !== text) cell.textContent = text;
    });
    const title = [row.name, row.type, change && (change === 'new' ? 'new since the last block' : 'changed by the last block'),
                   row.statistics?.sampled && 'numbers of a sample', row.contiguous === false && 'not contiguous'].filter(Boolean).join(' · ');
    if (element.children[0].title !== title) element.children[0].title = title;
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

function setHeight(row, height) {
  const text = `${height}px`;
  if (row.firstChild.style.height !== text) row.firstChild.style.height = text;
  row.hidden = height === 0;
}
