// The cells of a text: lines `# %%` divide it, but for those inside a string of several lines; what stands behind is a cell's title;
// `# %% [markdown]` begins a cell of text. In `# %% [open string]` strings are not followed. The server divides alike (../cells.cpp).

const kRule = /^# ?%%(.*)$/s;
const kText = /\[(?:markdown|md|raw)\]/;
const kOpen = '[open string]';

// The quotes of the string that goes on behind the line when `open` was before it; '': there is none.
function openBehind(line, open) {
  if (!open && !/["']/.test(line)) return '';
  for (let at = 0; at < line.length;) {
    const sign = line[at];
    if (open) {
      if (sign === '\\') {
        if (at + 1 === line.length) return open;
        at += 2;
      } else if (line.startsWith(open, at)) {
        at += open.length;
        open = '';
      } else {
        ++at;
      }
    } else if (sign === '#') {
      return '';
    } else if (sign === '"' || sign === "'") {
      open = line.startsWith(sign.repeat(3), at) ? sign.repeat(3) : sign;
      at += open.length;
    } else {
      ++at;
    }
  }
  return open.length === 3 ? open : '';
}

// [{index, rule: its `# %%` line or null, first, last: the lines below it, title, isText, isOpen}], at least one. Lines from 0, the last included;
// last < first: nothing stands below the rule.
export function cellsOf(lines) {
  const cells = [];
  let cell = {rule: null, first: 0, title: '', isText: false, isOpen: false};
  let open = '';
  const close = (last) => {
    cell.last = last;
    if (cell.rule !== null || last >= cell.first && lines.slice(cell.first, last + 1).some((line) => /[^ \t\r\n]/.test(line))) {
      cell.index = cells.length;
      cells.push(cell);
    }
  };
  lines.forEach((line, number) => {
    const rule = open ? null : kRule.exec(line);
    if (!rule) {
      if (!cell.isText && !cell.isOpen) open = openBehind(line, open);
      return;
    }
    close(number - 1);
    const isText = kText.test(rule[1]);
    const isOpen = !isText && rule[1].includes(kOpen);
    const title = rule[1].replace(isText ? kText : isOpen ? kOpen : '', '').replace(/^[ \t\r]+|[ \t\r]+$/g, '');
    cell = {rule: number, first: number + 1, title, isText, isOpen};
  });
  close(lines.length - 1);
  if (cells.length === 0) cells.push({...cell, index: 0, last: lines.length - 1});
  return cells;
}

export const topOf = (cell) => cell.rule ?? cell.first;

export function cellAt(cells, line) {
  for (let i = cells.length - 1; i > 0; --i) if (topOf(cells[i]) <= line) return cells[i];
  return cells[0];
}

// What is run of the lines from `first` to `last`: without blank lines around. Null: there is nothing.
export function blockOf(lines, first, last) {
  while (first <= last && !lines[first].trim()) ++first;
  while (last >= first && !lines[last].trim()) --last;
  return first > last ? null : {text: lines.slice(first, last + 1).join('\n'), line: first};
}
