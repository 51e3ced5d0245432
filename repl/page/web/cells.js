// The cells of a text: lines `# %%` divide it, what stands behind is a cell's title; `# %% [markdown]` begins a cell of text.

const kRule = /^# ?%%(.*)$/;
const kText = /\[(?:markdown|md|raw)\]/;

// [{index, rule: its `# %%` line or null, first, last: the lines below it, title, isText}], at least one. Lines from 0, the last included;
// last < first: nothing stands below the rule.
export function cellsOf(lines) {
  const cells = [];
  let cell = {rule: null, first: 0, title: '', isText: false};
  const close = (last) => {
    cell.last = last;
    if (cell.rule !== null || last >= cell.first && lines.slice(cell.first, last + 1).some((line) => line.trim())) {
      cell.index = cells.length;
      cells.push(cell);
    }
  };
  lines.forEach((line, number) => {
    const rule = kRule.exec(line);
    if (!rule) return;
    close(number - 1);
    const title = rule[1].trim();
    cell = {rule: number, first: number + 1, title: title.replace(kText, '').trim(), isText: kText.test(title)};
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
