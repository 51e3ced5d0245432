// Which columns of a table of tensors its place has room for, and how wide each is: names, shapes and the like are shortened first, then
// columns go, the least telling one first.

const kPadding = 12;      // pixels beside a text; inspector.css
const kNamePadding = 22;  // with the place of the mark
const kTitleLetter = 6.6, kSortMark = 13;

// The first goes first; what is not here stays.
const kRank = ['std', 'shares', 'device', 'bytes', 'grad', 'mean', 'min', 'max', 'dtype'];

// Where room is left it goes to these, in this order, each up to so many letters or what it has to say.
const kGrows = [['name', 22], ['shape', 24], ['dtype', Infinity], ['name', 30], ['shape', Infinity], ['grad', Infinity], ['shares', Infinity], ['name', 60]];

// columns: [{key, title, least}]; longest: letters of each one's longest text; letter: pixels; → {widths: Map key → pixels, nameLetters}
export function fitColumns(columns, longest, letter, room) {
  const wide = (column, letters) => Math.ceil(Math.max(letters * letter, column.title.length * kTitleLetter + kSortMark) + (column.key === 'name' ? kNamePadding : kPadding));
  const least = (column) => wide(column, Math.min(longest.get(column.key), column.least ?? Infinity));
  const widths = new Map(columns.map((column) => [column.key, least(column)]));
  let left = room - [...widths.values()].reduce((a, b) => a + b, 0);
  for (const key of kRank) {
    if (left >= 0) break;
    left += widths.get(key) ?? 0;
    widths.delete(key);
  }
  for (const [key, most] of kGrows) {
    const column = columns.find((other) => other.key === key);
    if (left <= 0 || !column || !widths.has(key)) continue;
    const more = Math.max(0, Math.min(left, wide(column, Math.min(most, longest.get(key))) - widths.get(key)));
    widths.set(key, widths.get(key) + more);
    left -= more;
  }
  return {widths, nameLetters: Math.floor((widths.get('name') - kNamePadding) / letter + 0.01)};
}
