// Puts the page together: the connection, the panes, and who hears of what.
import {byId} from './dom.js';
import {alarm, say} from './announce.js';
import {Blocks} from './blocks.js';
import {CellMarks} from './cell_marks.js';
import {blockOf} from './cells.js';
import {addCompletion, around} from './completion.js';
import {Connection} from './connection.js';
import {notice, noticeAway, question} from './dialogs.js';
import {Document} from './document.js';
import {Editor} from './editor.js';
import {Errors} from './errors.js';
import {Files} from './files.js';
import {Help} from './help.js';
import {Inspector} from './inspector.js';
import {bindKeys, showKeys} from './keys.js';
import {Layout} from './layout.js';
import {placeLinks} from './links.js';
import {InputField, Prompt} from './prompt.js';
import {Terminal} from './terminal.js';

const connection = new Connection();
const layout = new Layout();
const editor = new Editor();
const doc = new Document(connection, editor);
const blocks = new Blocks(connection, editor, doc);
const errors = new Errors(editor, blocks, placeLinks(goTo));
const inspector = new Inspector(connection);
const prompt = new Prompt(connection, blocks);
const input = new InputField(connection);
const files = new Files(connection, doc);
const help = new Help(connection);

// From a number in the terminal to its text: in the editor, else in the terminal itself.
function goTo(number, line) {
  const block = blocks.numbered(number);
  const at = blocks.lineOf(block, line);
  if (at !== null) {
    layout.show('editor');
    editor.goTo(Math.min(at, editor.code.lastLine()));
  } else if (block) {
    layout.show('terminal');
    terminal.scrollTo(block.id);
  }
}

const terminal = new Terminal({openTensor: inspector.openTensor, openGraph: inspector.openGraph, goTo});
inspector.onShow = () => layout.show('inspector');
prompt.onRun = () => terminal.stickAgain();
input.onRequest = () => layout.show('terminal');
layout.onResize = () => { editor.code.refresh(); prompt.code.refresh(); };
blocks.on('asked', () => terminal.stickAgain());

// --- the log: what comes while the page is open and, after a connect, what came before

function take(message, isLive) {
  terminal.take(message);
  switch (message.type) {
    case 'started': {
      const block = blocks.started(message);
      errors.clearOf(block);
      if (isLive) prompt.add(message.text);
      break;
    }
    case 'error': errors.show(message, isLive); if (isLive && layout.isNarrow) layout.news('terminal'); break;
    case 'input_request': if (isLive) input.request(message); break;
    case 'input_done': input.done(message); break;
    case 'finished':
      blocks.finished(message);
      if (message.outcome !== 'done' && message.outcome !== 'dropped' && isLive) alarm(`Block ${message.outcome}`);
      break;
    case 'ended': input.done({}); if (isLive) alarm(message.reason === 'restart' ? 'Restarted' : `The worker ended: ${message.word || message.reason}`); break;
    case 'stream': case 'display': case 'result': if (isLive) layout.news('terminal'); break;
    default: return;
  }
  if (message.type === 'started' || message.type === 'finished') blocks.emit('marks');
}

for (const type of ['started', 'stream', 'display', 'result', 'error', 'clear', 'page', 'overflow', 'input_request', 'input_done', 'finished', 'ended']) {
  connection.on(type, (message) => take(message, true));
}

function replay(log) {
  terminal.clear();
  blocks.forget();
  errors.clear();
  input.done({});
  const waiting = new Map();
  for (const message of log) {
    take(message, false);
    if (message.type === 'input_request') waiting.set(message.id, message);
    if (message.type === 'input_done') waiting.delete(message.id);
    if (message.type === 'ended' || message.type === 'finished') waiting.clear();
  }
  for (const message of waiting.values()) input.request(message);
  blocks.emit('marks');
}

connection.on('hello', (message) => {
  noticeAway('gone');
  files.examples = message.examples ?? [];
  files.folder = message.folder ?? '';
  doc.hello(message.document);
  replay(message.log ?? []);
  if (!blocks.all().next().value) showOutputs(message.document);
  blocks.state(message.state);
  byId('terminal-word').textContent = `tsr ${message.version ?? ''}`;
  prompt.load();
  connection.send({type: 'tensors'});
  window.tessera.isReady = true;
  if (message.draft) {
    notice(`${message.draft.name || 'A document'} was left with unsaved changes.`, {name: 'draft', actions: [
      ['Take them', () => connection.send({type: 'draft', id: message.draft.id, take: true})],
      ['Forget them', () => connection.send({type: 'draft', id: message.draft.id, take: false})]]});
  }
});

connection.on('down', (was) => {
  blocks.worker = 'gone';
  blocks.emit('state');
  if (was) notice('The connection to the server is lost. What you type stays here. While the server runs, this page connects again by itself; '
                  + 'one that was started anew prints a new address: open that, and it offers what was typed.', {kind: 'bad', name: 'gone'});
});
connection.on('forbidden', () => notice('Another server answers at this address (one that was started anew has a new key), or this browser has lost its key. '
                                             + 'Open the address that `tsr serve` has printed: it offers what was typed; here it stays as well.',
                                      {kind: 'bad', name: 'gone'}));

// Outputs that a notebook was saved with; they are no part of the log.
function showOutputs(message) {
  const cells = editor.cells();
  const lines = editor.lines();
  for (const {cell, number, messages} of message.outputs ?? []) {
    const of = cells[cell];
    if (of) terminal.saved(`saved-${message.id}-${cell}`, {number, title: of.title, text: blockOf(lines, of.first, of.last)?.text ?? ''}, messages ?? []);
  }
}

let pending = null;  // the text for the new document that was asked for

doc.on('opened', (message) => {
  if (pending !== null) doc.replace(pending);
  pending = null;
  errors.clear();
  blocks.emit('marks');
  layout.show('editor');
  showOutputs(message);
  say(`${message.name} is open`);
});
doc.on('draft', ({take: takeIt, drop}) => notice('This browser kept changes of this document that no server has.', {name: 'draft-here', actions: [['Take them', takeIt], ['Forget them', drop]]}));
doc.on('left', ({name, text}) => notice(`Another document is open now; what was typed in ${name} last is in no file.`, {name: 'left', actions: [
  ['Open it as a new document', () => {
    connection.send({type: 'new'});
    pending = text;
  }]]}));
doc.onConflict = () => question('Changed in two places', 'Another tab changed the same lines. Which text shall stand? (Undo brings the other one back.)',
  [['mine', 'Keep mine'], ['theirs', 'Take theirs']]);

connection.on('log_cleared', () => terminal.clear());
connection.on('offer', ({text}) => { if (editor.text.trim()) editor.insertCell(text); else editor.setText(text, '+offer'); });
connection.on('problem', ({text, about}) => {
  notice(about ? `${about}: ${text}` : text, {kind: 'bad', name: `problem-${about ?? ''}`});
});

// --- running

function partOf(cell) {
  if (cell.isText) return [];
  const block = blockOf(editor.lines(), cell.first, cell.last);
  return block ? [{...block, cell: cell.index, title: cell.title}] : [];
}

const runCells = (cells) => blocks.runEditor(cells.flatMap(partOf));

const actions = {
  runAll: () => runCells(editor.cells()),
  runCell: () => runCells([editor.cell()]),
  runCellAndGo: () => {
    const cell = editor.cell();
    runCells([cell]);
    editor.goBehind(cell);
  },
  runSelection: () => {
    const {code} = editor;
    const from = code.getCursor('from'), to = code.getCursor('to');
    const last = to.line > from.line && to.ch === 0 ? to.line - 1 : to.line;
    const {lines, margin} = dedented(editor.lines(), from.line, last);
    const block = blockOf(lines, from.line, last);
    if (block) blocks.runEditor([{...block, cell: editor.cell().index, isPart: true, margin}]);
  },
  interrupt: () => blocks.interrupt(),
  restart: async () => {
    if (blocks.isBusy && await question('Restart', 'A block runs. End it, and start with no names?', [['yes', 'Restart'], [undefined, 'Back']]) !== 'yes') return;
    blocks.restart();
    errors.clear();
  },
  clear: () => { connection.send({type: 'clear_log'}); },
  save: () => files.save(),
  saveAs: () => files.save(true),
  open: () => files.open(),
  toEditor: () => { layout.show('editor'); editor.code.focus(); },
  toTerminal: () => { layout.show('terminal'); prompt.code.focus(); },
  toInspector: () => layout.focus('inspector'),
  help: (event) => {
    const code = event?.target.closest?.('#prompt') ? prompt.code : event?.target.closest?.('#code') ? editor.code : null;
    if (!code || !help.ask(code)) showKeys();
  },
};

// A selection from the middle of a function is run as it stands, moved to the margin.
function dedented(lines, first, last) {
  const selected = lines.slice(first, last + 1);
  const margins = selected.filter((line) => line.trim()).map((line) => /^[ \t]*/.exec(line)[0].length);
  const margin = margins.length ? Math.min(...margins) : 0;
  return {margin, lines: margin === 0 ? lines : [...lines.slice(0, first), ...selected.map((line) => line.slice(margin)), ...lines.slice(last + 1)]};
}

new CellMarks(editor, blocks, (cell) => { editor.code.setCursor(Math.min(cell.first, editor.code.lastLine()), 0); runCells([cell]); });
bindKeys(actions);
addCompletion(editor.code, connection, (code) => {
  const cell = editor.cell();
  return around(code, cell.first > code.getCursor().line ? code.getCursor().line : cell.first, Math.max(cell.last, code.getCursor().line));
});
help.watch(editor.code);

const buttons = {'run-all': actions.runAll, 'run-cell': actions.runCell, 'run-selection': actions.runSelection, stop: actions.interrupt, restart: actions.restart,
                 clear: actions.clear, examples: () => files.chooseExample(), open: actions.open, 'menu-new': () => files.new(), keys: () => showKeys(),
                 save: (event) => files.save(event.shiftKey)};
for (const [id, action] of Object.entries(buttons)) byId(id).addEventListener('click', action);
const showTheme = (word) => { byId('theme').setAttribute('aria-label', `Colours: ${word}`); byId('theme').title = `Colours: ${word}`; };
showTheme(window.tesseraTheme.word());
byId('theme').addEventListener('click', () => {
  const word = window.tesseraTheme.next();
  showTheme(word);
  say(`Colours: ${word}`);
});

// --- what the worker does

const kWords = {starting: 'starting', idle: 'ready', running: 'running', waiting: 'waits for input', gone: 'no server'};

blocks.on('state', () => {
  const busy = blocks.isBusy;
  const waiting = blocks.queue.length;
  byId('status').className = `status ${blocks.worker}`;
  byId('status-word').textContent = (kWords[blocks.worker] ?? blocks.worker) + (waiting ? `, ${waiting} wait${waiting === 1 ? 's' : ''}` : '');
  byId('stop').disabled = !busy && waiting === 0;
  for (const id of ['run-all', 'run-cell', 'run-selection', 'restart']) byId(id).disabled = blocks.worker === 'gone';
  inspector.watch(busy);
  byId('live').classList.toggle('off', blocks.worker === 'gone');
});

const showSelection = () => { byId('run-selection').disabled = blocks.worker === 'gone' || !editor.code.somethingSelected(); };
editor.on('cursor', showSelection);
blocks.on('state', showSelection);

// For tests and for the curious.
window.tessera = {editor: editor.code, prompt: prompt.code, inspector, connection, blocks, cells: () => editor.cells(), runCell: (cell) => runCells([cell])};

document.fonts?.ready.then(() => layout.onResize());
connection.open();
editor.code.focus();
