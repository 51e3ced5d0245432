// What a stream writes, as rows of characters with styles: colours (SGR), \r, \b, tabs, moves of the cursor by lines and columns, erasing.
// A row is {text, runs: [[length, style]]}; a style is a string of class names and, of colours beyond the sixteen, `#rrggbb` for the
// foreground and `^#rrggbb` behind the characters.

const kMostRows = 200_000;       // kept of one block; the server bounds its bytes
const kNames = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const kControl = /[\x00-\x1f\x7f\x9b]/;
const kEscape = /^\x1b(?:\[([0-9;:?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-Z\\-_=>])/;
const kStartOfEscape = /^\x1b(?:\[[0-9;:?]*[ -/]*|\][^\x07\x1b]{0,4000}\x1b?|[()])?$/;

export class Screen {
  rows = [{text: '', runs: []}];
  dropped = 0;     // rows that were taken off the top
  firstDirty = 0;  // the first row that changed since this was last set
  #row = 0;
  #column = 0;
  #style = new Style();
  #rest = '';      // an escape sequence whose end is still to come

  write(text) {
    text = this.#rest + text;
    this.#rest = '';
    let at = 0;
    while (at < text.length) {
      const tail = text.slice(at, at + 4096);
      const control = kControl.exec(tail);
      const plain = control ? control.index : tail.length;
      if (plain > 0) this.#put(text.slice(at, at + plain));
      at += plain;
      if (control) at = this.#control(text, at);
    }
    if (this.rows.length > kMostRows) {
      const over = this.rows.length - kMostRows;
      this.rows.splice(0, over);
      this.dropped += over;
      this.#row = Math.max(0, this.#row - over);
      this.firstDirty = 0;
    }
  }

  #control(text, at) {
    switch (text[at]) {
      case '\n': this.#row++; this.#column = 0; this.#reach(); return at + 1;
      case '\r': this.#column = 0; return at + 1;
      case '\b': this.#column = Math.max(0, this.#column - 1); return at + 1;
      case '\t': this.#put(' '.repeat(8 - this.#column % 8)); return at + 1;
      case '\x1b': return this.#escape(text, at);
      default: return at + 1;
    }
  }

  #escape(text, at) {
    const tail = text.slice(at, at + 5000);
    const found = kEscape.exec(tail);
    if (!found) {
      if (!kStartOfEscape.test(tail)) return at + 1;
      this.#rest = text.slice(at);
      return text.length;
    }
    const [whole, parameters, final] = found;
    if (final === 'm') this.#style.take(parameters);
    else if (final) this.#move(final, parameters);
    return at + whole.length;
  }

  #move(final, parameters) {
    const n = Math.min(Math.max(1, parseInt(parameters, 10) || 1), 10_000);
    const row = this.rows[this.#row];
    switch (final) {
      case 'A': this.#row = Math.max(0, this.#row - n); break;
      case 'B': this.#row += n; this.#reach(); break;
      case 'C': this.#column += n; break;
      case 'D': this.#column = Math.max(0, this.#column - n); break;
      case 'G': this.#column = n - 1; break;
      case 'K': {
        const mode = parseInt(parameters, 10) || 0;
        if (mode === 2) this.#replace(row, 0, row.text.length, '');
        else if (mode === 0) this.#replace(row, this.#column, row.text.length, '');
        else this.#replace(row, 0, Math.min(this.#column, row.text.length), ' '.repeat(Math.min(this.#column, row.text.length)));
        break;
      }
      default: break;
    }
  }

  #reach() {
    while (this.rows.length <= this.#row) this.rows.push({text: '', runs: []});
    this.#touch();
  }

  #touch() { this.firstDirty = Math.min(this.firstDirty, this.#row); }

  #put(text) {
    const row = this.rows[this.#row];
    if (this.#column > row.text.length) this.#replace(row, row.text.length, row.text.length, ' '.repeat(this.#column - row.text.length), '');
    this.#replace(row, this.#column, this.#column + text.length, text);
    this.#column += text.length;
  }

  #replace(row, from, to, text, style = this.#style.name) {
    this.#touch();
    if (from >= row.text.length) {  // the ordinary case: more at the end
      row.text += text;
      addRun(row.runs, text.length, style);
      return;
    }
    const old = row.runs;
    row.text = row.text.slice(0, from) + text + row.text.slice(to);
    row.runs = [];
    let at = 0;
    const keep = (start, end) => {  // of the old runs
      at = 0;
      for (const [length, name] of old) {
        addRun(row.runs, Math.min(at + length, end) - Math.max(at, start), name);
        at += length;
      }
    };
    keep(0, from);
    addRun(row.runs, text.length, style);
    keep(to, Infinity);
  }
}

function addRun(runs, length, style) {
  if (length <= 0) return;
  const last = runs.at(-1);
  if (last && last[1] === style) last[0] += length;
  else runs.push([length, style]);
}

class Style {
  #on = new Set();
  #front = '';
  #back = '';
  name = '';

  take(parameters) {
    const codes = parameters.replaceAll(':', ';').split(';').map((code) => parseInt(code, 10) || 0);
    while (codes.length > 0) this.#one(codes.shift(), codes);
    this.name = [...this.#on, this.#front, this.#back && (this.#back[0] === '#' ? `^${this.#back}` : this.#back)].filter(Boolean).join(' ');
  }

  #one(code, rest) {
    const kinds = {1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'strike'};
    if (code === 0) { this.#on.clear(); this.#front = this.#back = ''; }
    else if (kinds[code]) this.#on.add(`a-${kinds[code]}`);
    else if (code === 22) { this.#on.delete('a-bold'); this.#on.delete('a-dim'); }
    else if (kinds[code - 20]) this.#on.delete(`a-${kinds[code - 20]}`);
    else if (code >= 30 && code <= 37) this.#front = `a-${kNames[code - 30]}`;
    else if (code >= 90 && code <= 97) this.#front = `a-bright-${kNames[code - 90]}`;
    else if (code === 39) this.#front = '';
    else if (code >= 40 && code <= 47) this.#back = `b-${kNames[code - 40]}`;
    else if (code >= 100 && code <= 107) this.#back = `b-bright-${kNames[code - 100]}`;
    else if (code === 49) this.#back = '';
    else if (code === 38) this.#front = wide(rest, 'a-');
    else if (code === 48) this.#back = wide(rest, 'b-');
  }
}

function wide(rest, prefix) {
  const kind = rest.shift();
  if (kind === 5) return ofTable(rest.shift() ?? 0, prefix);
  if (kind === 2) return hex(rest.splice(0, 3));
  return '';
}

function ofTable(n, prefix) {
  if (n < 8) return `${prefix}${kNames[n]}`;
  if (n < 16) return `${prefix}bright-${kNames[n - 8]}`;
  if (n >= 232) return hex([0, 0, 0].map(() => 8 + 10 * (n - 232)));
  const level = (k) => (k === 0 ? 0 : 55 + 40 * k);
  return hex([Math.floor((n - 16) / 36), Math.floor((n - 16) / 6) % 6, (n - 16) % 6].map(level));
}

const hex = (parts) => `#${[0, 1, 2].map((i) => Math.min(255, parts[i] ?? 0).toString(16).padStart(2, '0')).join('')}`;
