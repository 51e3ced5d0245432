// One thing in the best of its forms; where there are several, a small switch between them.
import {colour, make, onTheme} from './dom.js';
import {bytes} from './format.js';
import {textElement} from './stream_view.js';
import {TensorTable} from './tensor_table.js';
import {tensorView} from './tensor_view.js';
import {graphView} from './graph_view.js';

const kTensors = 'application/vnd.tessera.tensors+json';
const kTensor = 'application/vnd.tessera.tensor+json';
const kGraph = 'application/vnd.tessera.graph+json';

// From the best to the plainest. `make` gets the data and what the page offers: {openTensor(name)}.
const kKinds = [
  {type: kTensors, word: 'Table', make: tensorsForm},
  {type: kTensor, word: 'Picture', make: (data, page) => tensorView(data, {open: page.openTensor, graph: page.openGraph, small: true})},
  {type: kGraph, word: 'Graph', make: (data, page) => graphView(data, {open: page.openTensor})},
  {type: 'image/svg+xml', word: 'Picture', make: svgForm},
  {type: 'image/png', word: 'Picture', make: (data) => image(`data:image/png;base64,${clean(data)}`)},
  {type: 'image/jpeg', word: 'Picture', make: (data) => image(`data:image/jpeg;base64,${clean(data)}`)},
  {type: 'text/html', word: 'Table', make: frame},
  {type: 'text/markdown', word: 'Text', make: markdown},
  {type: 'text/latex', word: 'LaTeX', make: plain},
  {type: 'application/json', word: 'JSON', make: (data) => plain(typeof data === 'string' ? data : JSON.stringify(data, null, 2))},
  {type: 'text/plain', word: 'Text', make: plain},
];

export function formsElement(forms, page) {
  const kinds = kKinds.filter(({type}) => forms[type] !== undefined && forms[type] !== null);
  if (kinds.length === 0) return make('div', {class: 'stream dim'}, `a value of the form ${Object.keys(forms).join(', ') || 'none'}`);
  // A tensor reads best as PyTorch prints it; its table is one press away.
  const text = forms['text/plain'];
  const isPrinted = kinds[0].type === 'text/html' && typeof text === 'string' && /^(tensor|array|Parameter)\b/.test(text.trimStart());
  let shown = isPrinted ? kinds.at(-1) : kinds[0];
  const body = make('div', {class: 'form-body'}, render(shown, forms, page));
  // Of a picture the text says nothing more.
  if (kinds.length === 1 || kinds.length === 2 && kinds[0].type.startsWith('image/')) return make('div', {class: 'form'}, body);
  const words = new Set();
  const buttons = kinds.filter(({word}) => !words.has(word) && words.add(word)).map((kind) =>
    make('button', {type: 'button', class: 'quiet', 'aria-pressed': String(kind === shown), onclick: (event) => {
      shown = kind;
      body.replaceChildren(render(kind, forms, page));
      for (const button of event.currentTarget.parentElement.children) button.setAttribute('aria-pressed', String(button === event.currentTarget));
    }}, kind.word));
  if (buttons.length < 2) return make('div', {class: 'form'}, body);
  return make('div', {class: 'form'}, make('div', {class: 'form-kinds', role: 'group', 'aria-label': 'Shown as'}, buttons), body);
}

function render(kind, forms, page) {
  const data = forms[kind.type];
  try {
    return kind.make(kind.type.endsWith('+json') && !kind.type.startsWith('image') && typeof data === 'string' ? JSON.parse(data) : data, page);
  } catch (error) {
    console.error(kind.type, error);
    return plain(forms['text/plain'] ?? `a damaged ${kind.type}`);
  }
}

function clean(data) {
  return String(data).replace(/[^A-Za-z0-9+/=]/g, '');
}

function plain(data) {
  return textElement(Array.isArray(data) ? data.join('') : String(data), null);
}

function image(url) {
  return make('img', {class: 'picture', src: url, alt: 'A picture that the program made', loading: 'lazy'});
}

// As an image: nothing in it runs, nothing in it is loaded.
function svgForm(data) {
  const text = Array.isArray(data) ? data.join('') : String(data);
  return image(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`);
}

function tensorsForm(data, page) {
  const table = new TensorTable({open: page.openTensor, rows: 14});
  table.show(data.tensors ?? []);
  const total = (data.totals ?? []).map((t) => `${t.device}: ${t.tensors} tensor${t.tensors === 1 ? '' : 's'}, ${bytes(t.bytes)}`).join(' · ');
  return make('div', {class: 'tensors-form'}, table.element, make('div', {class: 'dim small'}, total));
}

// HTML of a program in a frame of its own: no scripts, no forms, nothing of another host (the page's policy holds in it as well). It has the
// page's origin only so that its height can be seen from here.
function frame(data) {
  const text = Array.isArray(data) ? data.join('') : String(data);
  const element = make('iframe', {class: 'html', sandbox: 'allow-same-origin', title: 'HTML that the program made', referrerpolicy: 'no-referrer'});
  element.srcdoc = `<!doctype html><meta charset="utf-8"><style>
    body{margin:0;background:var(--pane);color:var(--ink);font:13px/1.45 var(--sans);overflow-x:auto}
    table{border-collapse:collapse;font:12px/1.4 var(--mono)} th{font-weight:600;text-align:right;color:var(--muted)}
    td,th{padding:3px 9px;border-bottom:1px solid var(--line);text-align:right} a{color:var(--accent)}</style>${text}`;
  const fit = () => {
    const body = element.contentDocument?.body;
    if (body) element.style.height = `${Math.min(Math.max(24, body.scrollHeight + 4), 600)}px`;
  };
  element.addEventListener('load', () => { dress(element); fit(); setTimeout(fit, 100); });
  return element;
}

// The page's colours in a frame, now and when they change.
function dress(element) {
  const root = element.contentDocument?.documentElement;
  if (!root) return;
  root.style.colorScheme = document.documentElement.dataset.theme;
  for (const name of ['--pane', '--ink', '--muted', '--line', '--accent', '--sans', '--mono']) root.style.setProperty(name, colour(name));
}

onTheme(() => document.querySelectorAll('iframe.html').forEach(dress));

// Headings, lists, code, emphasis: what a note has. Everything else stays as it is written.
function markdown(data) {
  const text = Array.isArray(data) ? data.join('') : String(data);
  const body = make('div', {class: 'markdown'});
  let list = null, code = null;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) {
      if (code) code = null;
      else body.append(code = make('pre', {}));
      continue;
    }
    if (code) { code.append(`${line}\n`); continue; }
    const heading = /^(#{1,6}) (.*)/.exec(line);
    const item = /^\s*[-*] (.*)/.exec(line);
    if (!item) list = null;
    if (heading) body.append(make(`h${Math.min(6, heading[1].length + 2)}`, {}, inline(heading[2])));
    else if (item) (list ??= body.appendChild(make('ul'))).append(make('li', {}, inline(item[1])));
    else if (line.trim()) body.append(make('p', {}, inline(line)));
  }
  return body;
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return make('code', {}, part.slice(1, -1));
    if (/^\*\*.+\*\*$/.test(part)) return make('strong', {}, part.slice(2, -2));
    if (/^\*.+\*$/.test(part)) return make('em', {}, part.slice(1, -1));
    return part;
  });
}
