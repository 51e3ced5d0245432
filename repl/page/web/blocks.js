// The blocks that run, ran or wait, and where in the editor each one's text stands: by a handle of its first line, which moves when
// lines come and go above it.
import {Events} from './events.js';
import {blockOf} from './cells.js';

export class Blocks extends Events {
  #connection;
  #editor;
  #document;
  #byId = new Map();
  #byNumber = new Map();
  #sent = new Map();  // key → {handle, text} of what this tab asked for
  #nextKey = 1;
  #tab = Math.random().toString(36).slice(2, 10);
  worker = 'starting';
  queue = [];
  running = null;

  constructor(connection, editor, document) {
    super();
    this.#connection = connection;
    this.#editor = editor;
    this.#document = document;
    connection.on('state', (message) => this.state(message));
  }

  get isBusy() { return this.worker === 'running' || this.worker === 'waiting'; }
  block(id) { return this.#byId.get(id); }
  numbered(number) { return this.#byNumber.get(number); }
  all() { return this.#byId.values(); }

  state(message) {
    this.worker = message.worker;
    this.running = message.block ?? null;
    this.queue = (message.queue ?? []).map((entry) => ({...entry, handle: this.#handleOf(entry.origin, null)}));
    this.emit('state');
  }

  // A new log: those of before are forgotten.
  forget() {
    this.#byId.clear();
    this.#byNumber.clear();
  }

  started(message) {
    const block = {id: message.block, number: message.number, text: message.text, isCut: Boolean(message.cut), origin: message.origin ?? {}, outcome: 'running',
                   handle: this.#handleOf(message.origin, message.text)};
    this.#byId.set(block.id, block);
    if (block.number !== null) this.#byNumber.set(block.number, block);
    this.#sent.delete(message.origin?.key);
    return block;
  }

  finished(message) {
    const block = this.#byId.get(message.block);
    if (block) Object.assign(block, {outcome: message.outcome, seconds: message.seconds});
    return block;
  }

  // The line of the editor on which line `line` (from 1) of a block stands; null: it is no longer there.
  lineOf(block, line = 1) {
    if (!block?.handle) return null;
    const first = this.#editor.code.getLineNumber(block.handle);
    return first === null ? null : first + line - 1;
  }

  // Columns of the editor that stand before the block's.
  marginOf(block) { return Number.isInteger(block.origin.margin) ? block.origin.margin : 0; }

  // Does the editor still have at its place what was run?
  isUnchanged(block) {
    const first = this.lineOf(block);
    if (first === null) return false;
    const end = first + block.text.split('\n').length;
    const text = this.#editor.code.getRange({line: first, ch: 0}, {line: end - 1});
    const margin = this.marginOf(block);
    const same = margin === 0 ? text : text.split('\n').map((line) => line.slice(margin)).join('\n');
    return block.isCut ? same.startsWith(block.text) : same === block.text;
  }

  #handleOf(origin, text) {
    if (origin?.where !== 'editor') return null;
    const own = this.#sent.get(origin.key);
    if (own) return own.handle;
    if (text === null) return null;
    // Another tab's, or one of before this page was loaded: by its line, else by its text.
    const lines = this.#editor.lines();
    const fits = (line) => text === lines.slice(line, line + text.split('\n').length).join('\n');
    let line = origin.line;
    if (!(Number.isInteger(line) && fits(line))) {
      const cell = this.#editor.cells().find((c) => blockOf(lines, c.first, c.last)?.text === text);
      if (!cell) return null;
      line = blockOf(lines, cell.first, cell.last).line;
    }
    return this.#editor.code.getLineHandle(line);
  }

  // --- running

  // Each {text, line, cell, title}: of the editor; `isPart`: not the whole cell; `margin`: columns that were taken off its lines. False: nothing was sent.
  runEditor(parts) {
    const blocks = parts.map((part) => {
      const key = `${this.#tab}.${this.#nextKey++}`;
      this.#sent.set(key, {handle: this.#editor.code.getLineHandle(part.line)});
      return {text: part.text, origin: {where: 'editor', cell: part.cell ?? null, line: part.line, part: part.isPart, margin: part.margin, title: (part.title ?? '').slice(0, 200), key}};
    });
    return this.#run(blocks);
  }

  runTerminal(text) {
    return this.#run([{text, origin: {where: 'terminal', cell: null, line: 0}}]);
  }

  #run(blocks) {
    if (blocks.length === 0) return false;
    this.#document.flush();
    this.emit('asked');
    return this.#connection.send({type: 'run', blocks});
  }

  interrupt() { this.#connection.send({type: 'interrupt'}); }
  restart() { this.#connection.send({type: 'restart'}); }
}
