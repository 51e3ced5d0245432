// Errors at their place in the editor: a wavy line under the columns and below the line what was wrong. Both go when the text there changes.
import {make} from './dom.js';
import {alarm} from './announce.js';

export class Errors {
  #editor;
  #blocks;
  #links;
  #shown = [];  // {block, marks, widget}

  // links(text): see links.js.
  constructor(editor, blocks, links) {
    this.#links = links;
    this.#editor = editor;
    this.#blocks = blocks;
    editor.code.on('changes', (code, changes) => {
      // A mark without text, or one whose line was touched, tells of something that is no longer there.
      const lines = new Set(changes.flatMap(({from, text}) => text.map((_, i) => from.line + i)));
      for (const error of [...this.#shown]) {
        const line = code.getLineNumber(error.handle);
        if (line === null || lines.has(line)) this.#remove(error);
      }
    });
  }

  clear() {
    for (const error of [...this.#shown]) this.#remove(error);
  }

  // A cell that runs again has no error for now.
  clearOf(block) {
    for (const error of [...this.#shown]) {
      const line = this.#editor.code.getLineNumber(error.handle);
      const first = this.#blocks.lineOf(block);
      const isOfBlock = error.block === block || error.block.handle === block.handle && block.handle;
      const isInside = first !== null && line !== null && line >= first && line < first + block.text.split('\n').length;
      if (isOfBlock || isInside) this.#remove(error);
    }
  }

  #remove(error) {
    this.#shown.splice(this.#shown.indexOf(error), 1);
    for (const mark of error.marks) mark.clear();
    error.widget.clear();
  }

  // `follows`: brings it into sight.
  show(message, follows = false) {
    const block = this.#blocks.block(message.block);
    if (!block) return;
    const places = this.#placesOf(message, block);
    const last = places.at(-1);
    if (!last) return;
    const code = this.#editor.code;
    code.operation(() => {
      const marks = places.map((place) => this.#mark(place, place === last));
      const node = this.#box(message, last, places.length);
      const widget = code.addLineWidget(last.line, node, {coverGutter: false, noHScroll: true, className: 'error-line'});
      const error = {block, marks, widget, handle: code.getLineHandle(last.line)};
      node.querySelector('button').addEventListener('click', () => { this.#remove(error); code.focus(); });
      this.#shown.push(error);
    });
    if (!follows) return;
    code.scrollIntoView({from: {line: last.line, ch: 0}, to: {line: Math.min(last.line + 3, code.lastLine()), ch: 0}}, 60);
    alarm(`${message.name}: ${message.message}, line ${last.line + 1}`);
  }

  // Those of the places that the editor still has, from the outermost to the innermost.
  #placesOf(message, block) {
    const found = [];
    for (const place of message.places ?? []) {
      const number = /^In \[(\d+)\]$/.exec(place.file)?.[1];
      const of = number === undefined ? null : this.#blocks.numbered(Number(number));
      if (!of || !this.#blocks.isUnchanged(of)) continue;
      const line = this.#blocks.lineOf(of, place.line);
      if (line === null || line > this.#editor.code.lastLine()) continue;
      const margin = this.#blocks.marginOf(of);
      found.push(this.#units({line, column: place.column + margin, end_line: place.end_line ? line + place.end_line - place.line : 0, end_column: place.end_column + margin}));
    }
    if (found.length === 0 && this.#blocks.isUnchanged(block)) {
      const line = this.#blocks.lineOf(block);
      found.push({line, column: 0, endLine: line, endColumn: this.#editor.code.getLine(line).length});
    }
    return found;
  }

  // Columns are counted in characters there, in UTF-16 units here. Where no end is known: to the line's end.
  #units({line, column, end_line: endLine, end_column: endColumn}) {
    const code = this.#editor.code;
    const text = code.getLine(line);
    const start = unitOf(text, column);
    if (!endLine || endLine > code.lastLine()) return {line, column: start, endLine: line, endColumn: text.length};
    return {line, column: start, endLine, endColumn: Math.max(unitOf(code.getLine(endLine), endColumn), endLine === line ? start + 1 : 0)};
  }

  #mark(place, isLast) {
    const code = this.#editor.code;
    const text = code.getLine(place.line);
    let from = place.column;
    if (from >= text.length) from = Math.max(0, text.length - 1);  // something is missing at the end: the last character stands for it
    if (from === 0 && place.endLine === place.line) from = Math.min(text.search(/\S|$/), place.endColumn);
    return code.markText({line: place.line, ch: from}, {line: place.endLine, ch: place.endColumn},
                         {className: isLast ? 'error-mark' : 'error-way', title: isLast ? '' : 'called from here'});
  }

  #box(message, place, depth) {
    const notes = (message.notes ?? []).map((note) => make('div', {class: 'error-note'}, this.#links(note)));
    return make('div', {class: 'error-box', role: 'note', 'aria-label': 'Error'},
      make('div', {class: 'error-caret', 'aria-hidden': 'true'}, ' '.repeat(place.column), make('span')),
      make('div', {class: 'error-text'},
        make('button', {class: 'quiet close', type: 'button', 'aria-label': 'Hide this error', title: 'Hide'}, '×'),
        make('strong', {}, message.name), message.message ? ': ' : '', make('span', {}, message.message),
        notes, depth > 1 && make('div', {class: 'error-depth'}, `reached through ${depth - 1} call${depth > 2 ? 's' : ''}, marked with dots`)));
  }
}

function unitOf(text, characters) {
  let unit = 0;
  for (let n = 0; n < characters && unit < text.length; ++n) unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
  return unit;
}
