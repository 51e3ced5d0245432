// What stands beside a cell: its rule with title and Run, and in the gutter whether it waits, runs, is done or failed.
import {make, perFrame} from './dom.js';
import {cellAt, topOf} from './cells.js';
import {duration} from './format.js';

const kWords = {queued: 'waits', running: 'runs', done: 'done', failed: 'failed', interrupted: 'interrupted', died: 'the worker ended',
                left: 'left', dropped: 'not run'};

export class CellMarks {
  #editor;
  #blocks;
  #run;
  #rules = [];     // {handle, bookmark}
  #head = null;    // the widget above a first cell that has no rule
  #marked = [];    // handles with a mark in the gutter
  #active = null;

  constructor(editor, blocks, run) {
    this.#editor = editor;
    this.#blocks = blocks;
    this.#run = run;
    const draw = perFrame(() => this.#draw());
    editor.on('changes', draw);
    editor.on('cursor', draw);
    blocks.on('state', draw);
    blocks.on('marks', draw);
    draw();
  }

  #draw() {
    const code = this.#editor.code;
    code.operation(() => {
      const cells = this.#editor.cells();
      this.#drawRules(code, cells);
      this.#drawMarks(code, cells);
    });
  }

  #drawRules(code, cells) {
    const wanted = new Map(cells.filter((c) => c.rule !== null).map((c) => [code.getLineHandle(c.rule), c]));
    this.#rules = this.#rules.filter((rule) => {
      const cell = wanted.get(rule.handle);
      if (cell && rule.isText === cell.isText && rule.bookmark.find()?.ch === rule.handle.text.length) {
        wanted.delete(rule.handle);
        return true;
      }
      rule.bookmark.clear();
      for (const name of ['cell-rule', 'cell-text']) code.removeLineClass(rule.handle, 'wrap', name);
      return false;
    });
    for (const [handle, cell] of wanted) {
      code.addLineClass(handle, 'wrap', 'cell-rule');
      const line = code.getLineNumber(handle);
      const widget = cell.isText ? make('span', {class: 'cell-kind'}, 'text') : this.#button(handle);
      const bookmark = code.setBookmark({line, ch: handle.text.length}, {widget, insertLeft: true, handleMouseEvents: false});
      this.#rules.push({handle, bookmark, isText: cell.isText});
    }
    this.#drawHead(code, cells);
    this.#drawActive(code, cells);
  }

  #button(handle) {
    const run = () => {
      const line = this.#editor.code.getLineNumber(handle);
      if (line !== null) this.#run(cellAt(this.#editor.cells(), line));
    };
    return make('button', {class: 'cell-run', type: 'button', tabindex: '-1', title: 'Run this cell (Ctrl-Enter)',
                           onmousedown: (event) => event.preventDefault(), onclick: run}, '▶ Run');
  }

  #drawHead(code, cells) {
    const wants = cells.length > 1 && cells[0].rule === null;
    if (!wants || this.#head && code.getLineNumber(this.#head.line) !== 0) {
      this.#head?.clear();
      this.#head = null;
    }
    if (!wants || this.#head) return;
    const bar = make('div', {class: 'cell-head'}, this.#button(code.getLineHandle(0)));
    this.#head = code.addLineWidget(0, bar, {above: true, noHScroll: true});
  }

  #drawActive(code, cells) {
    const cell = this.#editor.cell();
    const key = cells.length > 1 ? `${topOf(cell)}-${cell.last}` : '';
    if (this.#active?.key === key) return;
    for (const handle of this.#active?.handles ?? []) code.removeLineClass(handle, 'gutter', 'cell-active');
    const handles = [];
    if (key) {
      for (let line = topOf(cell); line <= Math.max(cell.last, topOf(cell)); ++line) {
        handles.push(code.addLineClass(line, 'gutter', 'cell-active'));
      }
    }
    this.#active = {key, handles};
  }

  // The last thing that happened to each cell.
  #drawMarks(code, cells) {
    const marks = new Map();
    const put = (line, mark) => {
      if (line === null) return;
      const cell = cellAt(cells, line);
      marks.set(topOf(cell), mark);
    };
    for (const block of this.#blocks.all()) {
      if (!block.handle) continue;
      const isOld = block.outcome !== 'running' && !this.#blocks.isUnchanged(block);
      put(this.#blocks.lineOf(block), {state: block.outcome, number: block.number, seconds: block.seconds, isOld});
    }
    for (const entry of this.#blocks.queue) {
      if (entry.handle) put(code.getLineNumber(entry.handle), {state: 'queued'});
    }
    for (const handle of this.#marked) {
      const line = code.getLineNumber(handle);
      if (line !== null && !marks.has(line)) code.setGutterMarker(handle, 'cell-mark', null);
    }
    this.#marked = [...marks].map(([line, mark]) => {
      const handle = code.getLineHandle(line);
      const key = JSON.stringify(mark);
      const shown = handle.gutterMarkers?.['cell-mark'];
      if (shown?.dataset.key !== key) {
        const element = markElement(mark);
        element.dataset.key = key;
        code.setGutterMarker(handle, 'cell-mark', element);
      }
      return handle;
    });
  }
}

function markElement({state, number, seconds, isOld}) {
  const word = kWords[state] ?? state;
  const title = [number === undefined || number === null ? '' : `In [${number}]`, word, duration(seconds), isOld ? 'changed since' : ''].filter(Boolean);
  const text = state === 'queued' ? '⋯' : state === 'running' ? '' : String(number ?? '');
  return make('div', {class: `mark mark-${state}${isOld ? ' mark-old' : ''}`, title: title.join(' · '), role: 'img', 'aria-label': title.join(', ')}, text);
}
