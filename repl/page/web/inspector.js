// The tensor inspector: the live table, one tensor, or a graph. It follows the blocks that run.
import {byId, later, make} from './dom.js';
import {bytes, count} from './format.js';
import {graphView} from './graph_view.js';
import {TensorTable} from './tensor_table.js';
import {tensorView} from './tensor_view.js';

const kWhileRunning = 700;  // milliseconds between looks

export class Inspector {
  #connection;
  #body = byId('inspector-body');
  #before = new Map();  // name → what it read like after the last block
  #changes = new Map();
  #shares = new Map();  // name → {shares, same}: only a look at all tensors finds it
  #view = {kind: 'table'};  // or {kind: 'tensor' | 'graph', name, at}
  #asked = 0;           // numbers the looks at one tensor: an answer that comes late is not shown
  #timer = 0;
  #empty = make('div', {class: 'empty'}, make('p', {}, 'Run code to inspect active tensors'));
  lastRefresh = 0;      // milliseconds that the last table took to be shown

  constructor(connection) {
    this.#connection = connection;
    this.table = new TensorTable({open: (name) => this.openTensor(name)});
    this.filter = make('input', {type: 'search', class: 'filter', placeholder: 'Filter by name, shape, dtype', 'aria-label': 'Filter tensors', spellcheck: 'false',
                                 oninput: () => { this.table.filter(this.filter.value); this.#showCount(); }});
    this.filter.addEventListener('keydown', (event) => { if (event.key === 'ArrowDown') { event.preventDefault(); this.table.focusRow(0); } });
    this.note = make('span', {class: 'dim small'});
    this.list = make('div', {class: 'list'}, make('div', {class: 'list-bar'}, this.filter, this.note), this.table.element);
    this.detail = make('div', {class: 'detail', hidden: true});
    this.detail.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.back(); });
    this.list.hidden = true;
    this.#body.append(this.#empty, this.list, this.detail);
    connection.on('tensors', (message) => this.take(message));
    this.#reload = later(() => this.#load(), 30);
  }

  #reload;

  // While a block runs the table is asked for; after it the server sends it by itself.
  watch(isRunning) {
    byId('live').classList.toggle('running', isRunning);
    clearInterval(this.#timer);
    if (isRunning) this.#timer = setInterval(() => { if (!document.hidden && byId('inspector').offsetParent) this.#connection.send({type: 'tensors'}); }, kWhileRunning);
  }

  take(message) {
    const start = performance.now();
    const rows = message.tensors ?? [];
    const now = new Map(rows.map((row) => [row.name, fingerprint(row)]));
    const changes = new Map();
    for (const [name, print] of now) {
      const old = this.#before.get(name);
      if (old === undefined) changes.set(name, 'new');
      else if (old !== print) changes.set(name, 'changed');
    }
    const gone = [...this.#before.keys()].filter((name) => !now.has(name)).length;
    this.#changes = changes;
    this.#shares = new Map(rows.filter((row) => row.shares).map(({name, shares, same}) => [name, {shares, same}]));
    if (!message.running) this.#before = now;
    this.#empty.hidden = rows.length > 0 || this.#view.kind !== 'table';
    this.list.hidden = rows.length === 0 || this.#view.kind !== 'table';
    this.table.show(rows, changes);
    this.#showTotals(message, rows);
    this.gone = gone;
    this.#showCount();
    if (this.#view.kind !== 'table') this.#reload();
    this.lastRefresh = performance.now() - start;
    performance.measure?.('tensors', {start, end: performance.now(), detail: rows.length});
  }

  #showTotals(message, rows) {
    const tensors = (n) => `${count(n)} tensor${n === 1 ? '' : 's'}`;
    const totals = (message.totals ?? []).map((t) => `${tensors(t.tensors)}, ${bytes(t.bytes)}${t.device === 'cpu' ? '' : ` on ${t.device}`}`);
    byId('totals').textContent = rows.length === 0 ? '' : totals.join(' · ') + (message.more > 0 ? ` · ${count(message.more)} more` : '');
  }

  #showCount() {
    const values = [...this.#changes.values()];
    const fresh = values.filter((kind) => kind === 'new').length, changed = values.length - fresh;
    this.note.textContent = [this.filter.value && `${this.table.count} shown`, fresh && `${fresh} new`, changed && `${changed} changed`, this.gone && `${this.gone} gone`].filter(Boolean).join(', ');
  }

  openTensor = (name) => { this.onShow(); this.#open({kind: 'tensor', name}); };
  openGraph = (name) => { this.onShow(); this.#open({kind: 'graph', name}); };
  onShow = () => {};

  #open(view) {
    view.from = this.#view;
    this.#view = view;
    this.list.hidden = this.#empty.hidden = true;
    this.detail.hidden = false;
    const back = make('button', {type: 'button', class: 'quiet back', onclick: () => this.back()}, '← All tensors');
    this.content = make('div', {class: 'detail-content'}, make('p', {class: 'dim'}, 'looking …'));
    this.detail.replaceChildren(make('div', {class: 'detail-bar'}, back,
      make('h3', {class: 'detail-name', title: view.name}, view.name), view.kind === 'graph' && make('button', {type: 'button', class: 'quiet', onclick: () => this.openTensor(view.name)}, 'Tensor')), this.content);
    back.focus({preventScroll: true});
    this.#load();
  }

  back() {
    const name = this.#view.name;
    this.#view = {kind: 'table'};
    this.detail.hidden = true;
    this.list.hidden = this.#before.size === 0;
    this.#empty.hidden = !this.list.hidden;
    this.table.focusRow();
    return name;
  }

  async #load() {
    const view = this.#view;
    if (view.kind === 'table') return;
    const number = ++this.#asked;
    let answer;
    try {
      answer = await this.#connection.ask({type: view.kind, name: view.name, ...view.at && {at: view.at}});
    } catch (error) {
      answer = {problem: error.message};
    }
    if (number !== this.#asked || view !== this.#view) return;
    if (answer.busy) answer.problem = 'A block runs: this is shown when it is through.';
    if (answer.row) Object.assign(answer.row, this.#shares.get(view.name));
    const drawn = view.kind === 'graph' ? graphView(answer, {open: this.openTensor})
      : tensorView(answer, {open: this.openTensor, graph: this.openGraph, pan: (at) => { view.at = at; this.#reload(); }});
    if (answer.problem && this.content.querySelector('.tensor-view, .graph-view')) {
      this.content.querySelector('.stale')?.remove();
      this.content.prepend(make('p', {class: 'stale'}, answer.problem));
      return;
    }
    // A slider that is being moved stays: only the rest is drawn anew around it.
    const held = document.activeElement?.closest?.('.detail-content input[type=range]');
    const index = held ? [...this.content.querySelectorAll('input[type=range]')].indexOf(held) : -1;
    const top = this.content.scrollTop;
    this.content.replaceChildren(drawn);
    this.content.scrollTop = top;
    if (index >= 0) this.content.querySelectorAll('input[type=range]')[index]?.focus({preventScroll: true});
  }
}

const fingerprint = (row) => JSON.stringify([row.shape, row.dtype, row.device, row.statistics, row.requires_grad, row.grad_fn]);
