// The editor: CodeMirror with what the page's panes ask of it. What is run, marked or completed is other modules' matter.
import {byId, later} from './dom.js';
import {Events} from './events.js';
import {cellsOf, cellAt, topOf} from './cells.js';

export const kCodeOptions = {
  mode: 'python',
  indentUnit: 4,
  tabSize: 4,
  indentWithTabs: false,
  matchBrackets: true,
  autoCloseBrackets: true,
  inputStyle: 'contenteditable',
  spellcheck: false,
};

// Tab indents a selection and goes to the next column of four; Escape and then Tab leaves the editor, so that no one is caught in it.
// Where there is nothing to indent or complete (`isIdle`) Tab leaves by itself.
function tabKeys(isIdle) {
  let leaves = false;
  return {
    onKey(event) {
      if (event.key === 'Tab' && (leaves || isIdle())) event.codemirrorIgnore = true;
      else if (event.key === 'Escape') leaves = true;
      else if (event.key !== 'Shift') leaves = false;
    },
    onBlur() { leaves = false; },
    keys: {
      'Tab': (code) => code.execCommand(code.somethingSelected() ? 'indentMore' : 'insertSoftTab'),
      'Shift-Tab': 'indentLess',
    },
  };
}

export function makeCode(place, {isIdle = () => false, ...options}) {
  const code = CodeMirror(place, {...kCodeOptions, ...options});
  // CodeMirror calls what is typed into "presentation", which has no name for a screen reader.
  const field = code.getInputField();
  field.setAttribute('role', 'textbox');
  field.setAttribute('aria-multiline', 'true');
  const tab = tabKeys(() => isIdle(code));
  code.addKeyMap(tab.keys, true);  // below what others bind to it
  code.on('keydown', (_, event) => tab.onKey(event));
  code.on('blur', tab.onBlur);
  return code;
}

export class Editor extends Events {
  #cells = null;

  constructor() {
    super();
    this.code = makeCode(byId('code'), {
      lineNumbers: true,
      styleActiveLine: {nonEmpty: true},
      gutters: ['cell-mark', 'CodeMirror-linenumbers'],
      viewportMargin: 40,
      readOnly: true,  // until the document is there (document.js)
      placeholder: 'Write a program, or open one of the examples.\nCtrl-Enter runs a cell; a line "# %%" begins one.',
    });
    this.code.getInputField().setAttribute('aria-label', 'Program. Escape, then Tab leaves the editor.');
    this.code.addKeyMap({
      'Ctrl-/': (code) => code.toggleComment({indent: true}),
      'Cmd-/': (code) => code.toggleComment({indent: true}),
      'Alt-Up': () => this.goToCell(-1),
      'Alt-Down': () => this.goToCell(1),
    });
    const tell = later(() => this.emit('cursor'), 40);
    this.code.on('cursorActivity', tell);
    this.code.on('changes', () => {
      this.#cells = null;
      this.emit('changes');
    });
  }

  get text() { return this.code.getValue(); }
  lines() { return this.code.getValue().split('\n'); }
  cells() { return this.#cells ??= cellsOf(this.lines()); }
  cell() { return cellAt(this.cells(), this.code.getCursor().line); }

  // Makes the text `text` with the one smallest change, so that cursor, marks and the rest of the text stay.
  setText(text, origin = '+server') {
    const old = this.text;
    if (old === text) return;
    const [from, oldTo, to] = difference(old, text);
    const scroll = this.code.getScrollInfo();
    this.code.replaceRange(text.slice(from, to), this.code.posFromIndex(from), this.code.posFromIndex(oldTo), origin);
    this.code.scrollTo(scroll.left, scroll.top);
  }

  // Another document: nothing of the old one's history can be undone into it.
  load(text) {
    this.code.setValue(text);
    this.code.clearHistory();
    this.code.setCursor(0, 0);
  }

  goTo(line, column = 0) {
    this.code.setCursor(line, column);
    this.code.scrollIntoView({line, ch: column}, 80);
    this.code.focus();
  }

  goToCell(step) {
    const cells = this.cells();
    const to = cells[this.cell().index + step];
    if (to) this.goTo(Math.min(to.first, this.code.lastLine()));
  }

  // Shift-Enter at the last cell makes a new one.
  goBehind(cell) {
    const next = this.cells()[cell.index + 1];
    if (next) {
      this.goTo(Math.min(next.first, this.code.lastLine()));
      return;
    }
    const last = this.code.lastLine();
    const gap = this.code.getLine(last).trim() ? '\n\n' : '\n';
    this.code.replaceRange(`${gap}# %%\n`, {line: last});
    this.goTo(this.code.lastLine());
  }

  insertCell(text) {
    const cell = this.cell();
    const below = Math.max(cell.last, topOf(cell));
    this.code.replaceRange(`\n\n# %%\n${text.replace(/\n+$/, '')}`, {line: below});
    this.goTo(Math.min(below + 3, this.code.lastLine()));
  }
}

// [from, end in a, end in b] of the part in which two texts differ. Never between the halves of a character.
export function difference(a, b) {
  const least = Math.min(a.length, b.length);
  let from = 0;
  while (from < least && a.charCodeAt(from) === b.charCodeAt(from)) ++from;
  if (from > 0 && isHigh(a.charCodeAt(from - 1))) --from;
  let back = 0;
  while (back < least - from && a.charCodeAt(a.length - 1 - back) === b.charCodeAt(b.length - 1 - back)) ++back;
  if (back > 0 && isLow(a.charCodeAt(a.length - back))) --back;
  return [from, a.length - back, b.length - back];
}

const isHigh = (unit) => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit) => unit >= 0xdc00 && unit < 0xe000;
