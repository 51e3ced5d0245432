// The autograd graph, drawn: leaves, steps, the result below. A tensor's node opens that tensor.
import {make, makeSvg} from './dom.js';
import {count} from './format.js';
import {layOut} from './graph_layout.js';

const kMostNodes = 400;
const kMargin = 14;

// open(name): a tensor is to be shown.
export function graphView(data, {open = null} = {}) {
  if (data.problem) return make('p', {class: 'empty'}, data.problem);
  const nodes = boundedNodes(data.nodes ?? []);
  if (nodes.length === 0) return make('p', {class: 'empty'}, 'There is no graph: nothing here requires a gradient.');
  for (const node of nodes) Object.assign(node, sizeOf(node));
  const {places, edges, width, height} = layOut(nodes);
  const svg = makeSvg('svg', {class: 'graph', role: 'group', 'aria-label': `Autograd graph of ${data.name}, ${nodes.length} nodes`,
                              viewBox: `${-kMargin} ${-kMargin} ${width + 2 * kMargin} ${height + 2 * kMargin}`},
    makeSvg('defs', {}, makeSvg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: '7', refY: '4', markerWidth: '7', markerHeight: '7', orient: 'auto-start-reverse'},
      makeSvg('path', {d: 'M0 0.8 L7.5 4 L0 7.2 z', class: 'arrow-head'}))),
    edges.map((edge) => makeSvg('path', {class: 'edge', d: curve(edge.points), 'marker-end': 'url(#arrow)'})),
    nodes.map((node, i) => nodeElement(node, places[i], i === 0, open)));
  const scroll = make('div', {class: 'graph-scroll', tabindex: '0', role: 'region', 'aria-label': 'Autograd graph; arrow keys scroll, plus and minus zoom'}, svg);
  const zoom = zoomed(scroll, svg, width + 2 * kMargin, height + 2 * kMargin);
  const total = data.total ?? nodes.length;
  return make('div', {class: 'graph-view'}, make('div', {class: 'graph-bar'},
    make('span', {class: 'key key-leaf'}, 'leaf'), make('span', {class: 'key key-named'}, 'named tensor'),
    make('span', {class: 'key key-step'}, 'step'), make('span', {class: 'key key-freed'}, 'freed by backward'),
    make('span', {class: 'dim'}, total > nodes.length ? `${count(nodes.length)} of ${count(total)} nodes` : `${count(total)} nodes`), zoom), scroll);
}

// Those nearest to the result; edges to what is left out go with it.
function boundedNodes(nodes) {
  const kept = nodes.slice(0, kMostNodes);
  return kept.map((node) => ({...node, inputs: (node.inputs ?? []).filter((input) => input < kept.length)}));
}

function linesOf(node) {
  const step = node.leaf && node.tensor ? '' : node.name.replace(/Backward\d*$/, '');
  return [node.tensor, step, node.shape && (typeof node.shape === 'string' ? node.shape : `[${node.shape.join(', ')}]`)].filter(Boolean).map((line) => shortened(line));
}

const shortened = (line) => (line.length > 30 ? `${line.slice(0, 12)}…${line.slice(-17)}` : line);

function sizeOf(node) {
  const lines = linesOf(node);
  return {lines, width: Math.max(44, 20 + 7.1 * Math.max(...lines.map((line) => line.length))), height: 12 + 15 * lines.length};
}

function curve(points) {
  let [[x, y]] = points;
  let d = `M${x.toFixed(1)} ${y.toFixed(1)}`;
  for (const [toX, toY] of points.slice(1)) {
    const bend = (toY - y) / 2;
    d += ` C${x.toFixed(1)} ${(y + bend).toFixed(1)} ${toX.toFixed(1)} ${(toY - bend).toFixed(1)} ${toX.toFixed(1)} ${toY.toFixed(1)}`;
    [x, y] = [toX, toY];
  }
  return d;
}

function nodeElement(node, {x, y}, isResult, open) {
  const opens = open && node.tensor;
  const name = `node${node.leaf ? ' leaf' : ''}${node.freed ? ' freed' : ''}${node.tensor ? ' named' : ''}${isResult ? ' result-node' : ''}`;
  const title = [node.name, node.tensor, node.leaf && 'a leaf', node.freed && 'what it kept was freed by backward'].filter(Boolean).join(' · ');
  const texts = node.lines.map((line, i) => makeSvg('text', {x: 0, y: -node.height / 2 + 18 + 15 * i, class: i === 0 ? 'first' : 'more'}, line));
  const element = makeSvg('g', {class: name + (opens ? ' opens' : ''), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
                                tabindex: opens ? '0' : null, role: opens ? 'button' : 'img', 'aria-label': title},
    makeSvg('rect', {x: -node.width / 2, y: -node.height / 2, width: node.width, height: node.height, rx: node.leaf ? node.height / 2.4 : 5}),
    texts, makeSvg('title', {}, title));
  if (opens) {
    element.addEventListener('click', () => open(node.tensor));
    element.addEventListener('keydown', (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); open(node.tensor); } });
  }
  return element;
}

function zoomed(scroll, svg, width, height) {
  let scale = 0;
  const set = (to) => {
    const box = scroll.getBoundingClientRect();
    const middle = [(scroll.scrollLeft + box.width / 2) / (width * scale || 1), (scroll.scrollTop + box.height / 2) / (height * scale || 1)];
    scale = Math.max(0.08, Math.min(3, to));
    svg.style.width = `${width * scale}px`;
    svg.style.height = `${height * scale}px`;
    scroll.scrollLeft = middle[0] * width * scale - box.width / 2;
    scroll.scrollTop = middle[1] * height * scale - box.height / 2;
  };
  const fit = () => {
    const room = scroll.clientWidth - 4;
    set(room > 40 ? Math.max(0.35, Math.min(1, room / width)) : 1);
    scroll.scrollTop = scroll.scrollHeight;
    if (scroll.clientHeight > 0 && scroll.scrollHeight > scroll.clientHeight * 1.6) scroll.scrollTop = scroll.scrollHeight;
  };
  set(1);
  requestAnimationFrame(fit);
  scroll.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    set(scale * Math.exp(-event.deltaY / 300));
  }, {passive: false});
  scroll.addEventListener('keydown', (event) => {
    if (event.key === '+' || event.key === '=') set(scale * 1.25);
    else if (event.key === '-') set(scale / 1.25);
    else if (event.key === '0') fit();
  });
  let from = null;
  scroll.addEventListener('pointerdown', (event) => {
    if (event.target.closest('.opens') || event.button !== 0) return;
    from = [event.clientX + scroll.scrollLeft, event.clientY + scroll.scrollTop];
    scroll.setPointerCapture(event.pointerId);
  });
  scroll.addEventListener('pointermove', (event) => {
    if (from) scroll.scrollTo(from[0] - event.clientX, from[1] - event.clientY);
  });
  scroll.addEventListener('pointerup', () => { from = null; });
  const button = (text, word, f) => make('button', {type: 'button', class: 'quiet', title: word, 'aria-label': word, onclick: f}, text);
  return make('span', {class: 'zoom', role: 'group', 'aria-label': 'Zoom'},
    button('−', 'Smaller', () => set(scale / 1.25)), button('+', 'Larger', () => set(scale * 1.25)), button('fit', 'The whole width', fit));
}
