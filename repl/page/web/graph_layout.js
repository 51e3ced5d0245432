// Places for the nodes of a graph, in layers: a node stands above all that uses it, so that data flows down to the result. After Sugiyama:
// layers by the longest way to the result, a dummy in each layer that an edge passes, orders by medians, then places by averaging.

const kGapX = 28, kGapY = 46, kDummy = 8;

// nodes: [{inputs: [n], width, height}], the first is the result. → {places: [{x, y}] (of middles), edges: [{from, to, points}], width, height}
export function layOut(nodes) {
  const layerOf = layers(nodes);
  const {all, rows, edges} = withDummies(nodes, layerOf);
  order(all, rows);
  place(all, rows);
  return finish(nodes, all, rows, edges);
}

function layers(nodes) {
  // The longest way from the result: inputs after users, in an order in which each comes when all its users have.
  const users = new Array(nodes.length).fill(0);
  for (const node of nodes) for (const input of new Set(node.inputs)) users[input]++;
  const layer = new Array(nodes.length).fill(0);
  const ready = nodes.map((_, i) => i).filter((i) => users[i] === 0);
  const seen = new Set(ready);
  while (ready.length > 0) {
    const at = ready.pop();
    for (const input of new Set(nodes[at].inputs)) {
      layer[input] = Math.max(layer[input], layer[at] + 1);
      if (--users[input] === 0 && !seen.has(input)) { seen.add(input); ready.push(input); }
    }
  }
  // Leaves stand right above their first user rather than all at the top.
  return layer;
}

function withDummies(nodes, layerOf) {
  const all = nodes.map((node, i) => ({index: i, layer: layerOf[i], width: node.width, height: node.height, up: [], down: []}));
  const edges = [];
  nodes.forEach((node, to) => {
    for (const from of new Set(node.inputs)) {
      const path = [from];
      let below = all[from];
      for (let layer = layerOf[from] - 1; layer > layerOf[to]; --layer) {
        const dummy = {index: all.length, layer, width: kDummy, height: 0, up: [], down: [], isDummy: true};
        all.push(dummy);
        join(below, dummy);
        path.push(dummy.index);
        below = dummy;
      }
      join(below, all[to]);
      path.push(to);
      edges.push({from, to, path});
    }
  });
  const rows = [];
  for (const node of all) (rows[node.layer] ??= []).push(node);
  return {all, rows, edges};
}

function join(above, below) {
  above.down.push(below);
  below.up.push(above);
}

function order(all, rows) {
  const number = (row) => row.forEach((node, i) => { node.at = i; });
  rows.forEach(number);
  const sweep = (row, side) => {
    for (const node of row) {
      const ats = node[side].map((other) => other.at).sort((a, b) => a - b);
      const middle = ats.length >> 1;
      node.wish = ats.length === 0 ? node.at : ats.length % 2 ? ats[middle] : (ats[middle - 1] + ats[middle]) / 2;
    }
    row.sort((a, b) => a.wish - b.wish || a.at - b.at);
    number(row);
  };
  let best = null, least = Infinity;
  for (let round = 0; round < 10; ++round) {
    if (round % 2) for (let i = rows.length - 2; i >= 0; --i) sweep(rows[i], 'up');
    else for (let i = 1; i < rows.length; ++i) sweep(rows[i], 'down');
    const now = all.length < 1500 ? crossings(rows) : least - 1;
    if (now < least) { least = now; best = rows.map((row) => row.slice()); }
    if (now === 0) break;
  }
  best.forEach((row, i) => { rows[i] = row; number(row); });
}

function crossings(rows) {
  let sum = 0;
  for (const row of rows) {
    const ends = row.flatMap((node) => node.up.map((other) => other.at).sort((a, b) => a - b));
    for (let i = 0; i < ends.length; ++i) for (let k = i + 1; k < ends.length; ++k) sum += ends[i] > ends[k];
  }
  return sum;
}

function place(all, rows) {
  for (const row of rows) {
    let x = 0;
    for (const node of row) { node.x = x + node.width / 2; x += node.width + kGapX; }
  }
  for (let round = 0; round < 24; ++round) {
    const down = round % 2 === 0;
    for (let i = 0; i < rows.length; ++i) settle(rows[down ? i : rows.length - 1 - i], down ? 'down' : 'up');
  }
}

// Each node to the middle of its neighbours, as far as the order and the gaps let it: from the left and from the right, the mean of both.
function settle(row, side) {
  const wish = row.map((node) => (node[side].length ? node[side].reduce((sum, other) => sum + other.x, 0) / node[side].length : node.x));
  const gap = (a, b) => (a.width + b.width) / 2 + kGapX;
  const left = wish.slice(), right = wish.slice();
  for (let i = 1; i < row.length; ++i) left[i] = Math.max(left[i], left[i - 1] + gap(row[i - 1], row[i]));
  for (let i = row.length - 2; i >= 0; --i) right[i] = Math.min(right[i], right[i + 1] - gap(row[i], row[i + 1]));
  row.forEach((node, i) => { node.x = (left[i] + right[i]) / 2; });
}

function finish(nodes, all, rows, edges) {
  let y = 0;
  for (let layer = rows.length - 1; layer >= 0; --layer) {
    const height = Math.max(...rows[layer].map((node) => node.height));
    for (const node of rows[layer]) node.y = y + height / 2;
    y += height + kGapY;
  }
  const left = Math.min(...all.map((node) => node.x - node.width / 2));
  const right = Math.max(...all.map((node) => node.x + node.width / 2));
  for (const node of all) node.x -= left;
  return {
    places: nodes.map((_, i) => ({x: all[i].x, y: all[i].y})),
    edges: edges.map(({from, to, path}) => ({from, to, points: path.map((i, k) => {
      const edge = k === 0 ? all[i].height / 2 : k === path.length - 1 ? -all[i].height / 2 : 0;
      return [all[i].x, all[i].y + edge];
    })})),
    width: right - left, height: y - kGapY,
  };
}
