// Names that fit a column: shortened in the middle, for the ends tell them apart; where those are alike too, by what differs.

function cut(name, letters) {
  const head = Math.floor((letters - 1) / 3);
  return `${name.slice(0, head)}…${name.slice(name.length - (letters - 1 - head))}`;
}

// Some names that are alike at both ends: `opt.…0.weight]…_avg']`.
function cutApart(names, letters) {
  const head = 4, tail = Math.floor(letters / 4), middle = letters - head - tail - 2;
  let alike = 0;
  while (names.every((name) => name[alike] === names[0][alike])) ++alike;
  const from = Math.max(head, alike - 2);
  return names.map((name) => {
    const last = name.length - tail;
    if (from + middle >= last) return cut(name, letters);
    return `${name.slice(0, head)}…${name.slice(from, from + middle)}…${name.slice(last)}`;
  });
}

// → Map name → what stands in the table
export function shortNames(names, letters) {
  const short = new Map();
  const alike = new Map();  // what a name would read → the names
  for (const name of names) {
    const text = name.length <= letters ? name : cut(name, letters);
    short.set(name, text);
    if (text !== name) alike.set(text, [...alike.get(text) ?? [], name]);
  }
  if (letters < 12) return short;
  for (const group of alike.values()) {
    if (group.length > 1) cutApart(group, letters).forEach((text, i) => short.set(group[i], text));
  }
  return short;
}
