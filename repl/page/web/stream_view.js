// A stream's rows in the page. Of many rows only the last stand there; earlier ones come on demand.
import {make} from './dom.js';
import {Screen} from './ansi.js';
import {count} from './format.js';

const kRows = 1000;           // shown at once, and added by a press of "earlier lines"
const kRowsInHaste = 150;     // shown while they come faster than anybody reads
const kUsualRow = 150;        // characters
const kLongestRow = 20_000;   // characters of a row that are shown

export class StreamView {
  screen = new Screen();
  #first = 0;           // row that is shown first
  #wanted = kRows;
  #elements = [];       // of rows #first …
  #end = 0;             // rows there were when it was last drawn
  #links;

  constructor(name, links) {
    this.#links = links;
    this.more = make('button', {class: 'quiet earlier', type: 'button', onclick: () => this.#showEarlier()});
    this.rows = make('div', {class: 'rows'});
    this.element = make('div', {class: `stream stream-${name}`}, this.more, this.rows);
    this.more.hidden = true;
  }

  get size() { return this.#elements.length; }

  write(text) { this.screen.write(text); }

  // Once for a frame, after any number of writes. True: it is to be drawn once more, whole, when it is quiet.
  draw(isQuiet = false) {
    const {screen} = this;
    const end = screen.rows.length - (screen.rows.at(-1).text === '' ? 1 : 0);
    const isHasty = !isQuiet && this.#wanted === kRows && end + screen.dropped - this.#end > kRowsInHaste;
    this.#end = end + screen.dropped;
    const wanted = isHasty ? kRowsInHaste : isQuiet ? this.#wanted : Math.max(kRowsInHaste, Math.min(this.#wanted, end - this.#first));
    const first = firstOf(screen.rows, end, wanted);
    let dirty = screen.firstDirty;
    screen.firstDirty = Infinity;
    if (first !== this.#first || screen.dropped !== this.dropped) {
      const gone = Math.min(this.#elements.length, Math.max(0, first - this.#first + screen.dropped - (this.dropped ?? 0)));
      for (const element of this.#elements.splice(0, gone)) element.remove();
      if (first < this.#first) dirty = this.#clear();
      this.dropped = screen.dropped;
      this.#first = first;
    }
    const keep = Math.max(0, Math.min(dirty, end) - first);
    for (const element of this.#elements.splice(keep)) element.remove();
    const fresh = document.createDocumentFragment();
    for (let row = first + this.#elements.length; row < end; ++row) {
      const element = rowElement(screen.rows[row], this.#links);
      this.#elements.push(element);
      fresh.append(element);
    }
    this.rows.append(fresh);
    const hidden = first + screen.dropped;
    this.more.hidden = hidden === 0;
    if (hidden > 0) this.more.textContent = first === 0 ? `${count(hidden)} earlier lines are no longer here` : `${count(hidden)} earlier lines`;
    this.more.disabled = first === 0;
    return (isHasty || wanted < this.#wanted) && first > 0;
  }

  #clear() {
    this.rows.replaceChildren();
    this.#elements = [];
    return 0;
  }

  #showEarlier() {
    const mark = this.#elements[0];
    const top = mark?.getBoundingClientRect().top;
    this.#wanted += kRows;
    this.draw(true);
    const now = this.#elements[this.#elements.length - Math.min(this.#elements.length, this.#wanted - kRows)];
    if (now && top !== undefined) this.element.closest('.log')?.scrollBy(0, now.getBoundingClientRect().top - top);
  }
}

// Of the last `wanted` rows the first that is shown: of long rows fewer, since each wraps to many lines.
function firstOf(rows, end, wanted) {
  let first = end, room = wanted * kUsualRow;
  while (first > 0 && end - first < wanted && room > 0) room -= Math.min(rows[--first].text.length, kLongestRow);
  return first;
}

export function rowElement(row, links) {
  const element = make('div', {class: 'row'});
  const long = row.text.length > kLongestRow;
  let at = 0;
  for (const [length, style] of row.runs) {
    if (at >= kLongestRow) break;
    const text = row.text.slice(at, Math.min(at + length, kLongestRow));
    at += length;
    const parts = links ? links(text) : [text];
    if (style === '') element.append(...parts);
    else element.append(styled(style, parts));
  }
  if (long) element.append(make('span', {class: 'cut'}, ` … ${count(row.text.length - kLongestRow)} more characters`));
  return element;
}

function styled(style, parts) {
  const span = make('span', {}, parts);
  const classes = [];
  for (const name of style.split(' ')) {
    if (name[0] === '#') span.style.color = name;
    else if (name[0] === '^') span.style.backgroundColor = name.slice(1);
    else classes.push(name);
  }
  if (classes.length > 0) span.className = classes.join(' ');
  return span;
}

// A whole text with colours at once.
export function textElement(text, links, className = 'stream') {
  const screen = new Screen();
  screen.write(text);
  if (screen.rows.at(-1).text === '') screen.rows.pop();
  const shown = screen.rows.length > 2 * kRows ? screen.rows.slice(0, kRows).concat(screen.rows.slice(-kRows)) : screen.rows;
  const rows = shown.map((row) => rowElement(row, links));
  if (shown !== screen.rows) rows.splice(kRows, 0, make('div', {class: 'row cut'}, `… ${count(screen.rows.length - shown.length)} lines …`));
  return make('div', {class: className}, make('div', {class: 'rows'}, rows));
}
