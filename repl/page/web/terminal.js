// The terminal: block after block with its number, what it wrote and showed, its result or error. Messages are gathered and drawn once a
// frame; of a long session only the last blocks stand in the page.
import {byId, later, make, perFrame} from './dom.js';
import {bytes, count, duration} from './format.js';
import {formsElement} from './forms.js';
import {placeLinks} from './links.js';
import {StreamView, textElement} from './stream_view.js';
import {say} from './announce.js';

const kMostBlocks = 60, kMostRows = 2000;  // that stand in the page
const kInLines = 12;                       // of a block's text before it is folded

export class Terminal {
  #log = byId('log');
  #page;
  #links;
  #blocks = new Map();  // id → entry
  #order = [];          // all entries; those before #firstShown stand not in the page
  #firstShown = 0;
  #displays = new Map();  // id → [{entry, place}] of displays that can be updated
  #dirty = new Set();
  #hasty = new Set();  // of which a part is shown, until it is quiet
  #whenQuiet = later(() => {
    for (const entry of this.#hasty) {
      for (const view of entry.views) view.draw(true);
      entry.rows = entry.views.reduce((sum, view) => sum + view.size, 0);
    }
    this.#hasty.clear();
    this.#bound();
    this.#stick();
  }, 150);
  #sticks = true;  // to the end of the log
  #top = 0;
  #earlier;
  #draw = perFrame(() => this.draw());
  #grows = new ResizeObserver(() => this.#stick());  // pictures and frames get their height after they were shown

  // page: {openTensor(name), openGraph(name), goTo(number, line)}
  constructor(page) {
    this.#page = page;
    this.#links = placeLinks((number, line) => page.goTo(number, line));
    this.#earlier = make('button', {class: 'quiet earlier', type: 'button', onclick: () => this.#showEarlier()});
    this.#log.addEventListener('scroll', () => {
      // Only who moves up leaves the end: what grows below moves nothing.
      const {scrollTop, scrollHeight, clientHeight} = this.#log;
      if (scrollHeight - scrollTop - clientHeight < 24) this.#sticks = true;
      else if (scrollTop < this.#top - 1) this.#sticks = false;
      this.#top = scrollTop;
    }, {passive: true});
    this.#grows.observe(this.#log);
    this.clear();
  }

  clear() {
    this.#blocks.clear();
    this.#displays.clear();
    this.#dirty.clear();
    this.#hasty.clear();
    this.#order = [];
    this.#firstShown = 0;
    this.#log.replaceChildren(make('div', {class: 'ready'}, '> Ready. Click "Run" to execute.'));
    this.#sticks = true;
  }

  // A message of the log. True: it was one.
  take(message) {
    const handler = this.#handlers[message.type];
    if (!handler) return false;
    const begins = message.type === 'started' || message.type === 'ended';
    handler(message, begins ? null : this.#blocks.get(message.block) ?? this.#stray(message));
    this.#draw();
    return true;
  }

  #handlers = {
    started: (message) => this.#start(message),
    stream: (message, entry) => this.#stream(entry, message.name === 'stderr' ? 'stderr' : 'stdout', message.text),
    display: (message, entry) => this.#display(entry, message),
    result: (message, entry) => this.#result(entry, message),
    error: (message, entry) => this.#error(entry, message),
    clear: (message, entry) => { if (message.wait) entry.clearsNext = true; else this.#empty(entry); },
    page: (message, entry) => this.#add(entry, make('div', {class: 'help-text'}, textElement(message.text, this.#links))),
    overflow: (message, entry) => this.#overflow(entry, message),
    input_request: (message, entry) => this.#inputRequest(entry, message),
    input_done: (message, entry) => this.#inputDone(entry, message),
    finished: (message, entry) => this.#finish(entry, message),
    ended: (message) => {
      if (message.reason === 'restart') this.#note('Restarted: no names any more.');
      else if (message.reason === 'left') this.#note(`${message.word || 'exit()'}: a new worker, with no names yet.`);
      else this.#note(`The worker ended: ${message.word || message.reason}. A new one has no names yet; text and output are kept.`, 'bad');
    },
  };

  #note(text, kind = '') {
    const entry = this.#newEntry(`note-${this.#order.length}`);
    entry.element.classList.add('note', kind || 'plain');
    entry.body.append(text);
    this.#draw();
  }

  word(text) { this.#note(text); }

  #newEntry(id) {
    if (this.#order.length === 0) this.#log.replaceChildren(this.#earlier);
    const body = make('div', {class: 'block-body'});
    const element = make('div', {class: 'block'}, body);
    const entry = {id, element, body, stream: null, streamName: '', views: [], clearsNext: false, rows: 0};
    this.#blocks.set(id, entry);
    this.#order.push(entry);
    this.#log.append(element);
    this.#grows.observe(element);
    return entry;
  }

  // Output of a block whose beginning the log has no more.
  #stray(message) { return message.block === undefined || message.block === null ? this.#newEntry(`stray-${this.#order.length}`) : this.#newEntry(message.block); }

  // cut: bytes of a text that is too long to be told whole.
  #start({block, number, text, origin, cut}) {
    const entry = this.#newEntry(block);
    entry.number = number;
    entry.element.classList.add('running');
    entry.element.id = `block-${block}`;
    entry.status = make('span', {class: 'block-status'});
    const isEditor = origin?.where === 'editor' || origin?.where === 'file';
    // What stands in the editor needs no repeating: its title, or its first line.
    const lines = text.split('\n');
    const folded = lines.length > (isEditor ? 3 : kInLines);
    const shown = isEditor ? 1 : kInLines - 4;
    const code = make('pre', {class: 'in-code'});
    const hasTitle = folded && isEditor && typeof origin.title === 'string' && origin.title;
    if (hasTitle) code.append(make('span', {class: 'in-title'}, origin.title));
    else colour(code, folded ? lines.slice(0, shown).join('\n') : text);
    const label = make(isEditor ? 'a' : 'span', isEditor ? {class: 'label in', href: '#editor', title: 'To its place in the editor', onclick: (event) => {
      event.preventDefault();
      this.#page.goTo(number, 1);
    }} : {class: 'label in'}, `In [${number ?? ' '}]`);
    entry.element.prepend(make('div', {class: 'block-in'}, label, code, entry.status));
    if (folded) {
      code.append(make('button', {class: 'quiet fold', type: 'button', onclick: () => colour(code, text)},
                       cut ? `the beginning of ${bytes(cut)}` : hasTitle ? `${lines.length} lines` : `${lines.length - shown} more line${lines.length - shown === 1 ? '' : 's'}`));
    }
  }

  #before(entry) {
    if (!entry.clearsNext) return;
    entry.clearsNext = false;
    this.#empty(entry);
  }

  #empty(entry) {
    entry.body.replaceChildren();
    entry.stream = null;
    entry.views = [];
    this.#dirty.delete(entry);
  }

  #add(entry, element) {
    this.#before(entry);
    entry.stream = null;
    entry.body.append(element);
    return element;
  }

  #stream(entry, name, text) {
    this.#before(entry);
    if (!entry.stream || entry.streamName !== name) {
      entry.stream = new StreamView(name, this.#links);
      entry.streamName = name;
      entry.views.push(entry.stream);
      entry.body.append(entry.stream.element);
    }
    entry.stream.write(text);
    this.#dirty.add(entry);
  }

  // What a notebook was saved with: a block that did not run here.
  saved(id, {number, title, text}, messages) {
    this.take({type: 'started', block: id, number, text, origin: {where: 'file', title}});
    for (const message of messages) this.take({...message, block: id, id: null, update: false});
    const entry = this.#blocks.get(id);
    entry.element.classList.remove('running');
    entry.status.textContent = 'as saved';
  }

  #display(entry, {forms, id, update}) {
    const element = () => make('div', {class: 'display'}, formsElement(forms, this.#page));
    const shown = id ? this.#displays.get(id) : null;
    if (update && shown) {
      for (const place of shown) place.replaceChildren(...element().childNodes);
      return;
    }
    const place = this.#add(entry, element());
    if (id) this.#displays.set(id, [...shown ?? [], place]);
  }

  #result(entry, {number, forms}) {
    this.#add(entry, make('div', {class: 'result'}, make('span', {class: 'label out'}, `Out[${number}]`), formsElement(forms, this.#page)));
    if (typeof forms['text/plain'] === 'string') say(`Out ${number}: ${forms['text/plain']}`);
  }

  #error(entry, message) {
    const text = message.text || `${message.name}: ${message.message}`;
    const element = this.#add(entry, textElement(text, this.#links, 'stream error-output'));
    for (const row of element.querySelectorAll('.row')) if (row.textContent.startsWith(message.name)) row.classList.add('error-name');
  }

  #overflow(entry, message) {
    this.#add(entry, make('div', {class: 'overflow'}, `${bytes(message.bytes)} more than is shown here: `,
      make('a', {href: message.url, target: '_blank', rel: 'noopener'}, 'the whole output')));
  }

  #inputRequest(entry, {id, prompt}) {
    entry.input = make('div', {class: 'asked', 'data-input': id}, prompt ?? '');
    this.#add(entry, entry.input);
  }

  #inputDone(entry, {id, text}) {
    const place = this.#log.querySelector(`[data-input="${CSS.escape(String(id))}"]`) ?? entry.input;
    place?.append(make('span', {class: 'answer'}, text === '' ? '…' : text));
  }

  #finish(entry, {outcome, seconds}) {
    entry.element.classList.remove('running');
    entry.element.classList.add(outcome);
    if (!entry.status) return;
    const words = {done: '', queued: '', failed: 'failed · ', interrupted: 'interrupted · ', died: 'the worker ended · ', left: 'left · ', dropped: 'not run'};
    entry.status.textContent = `${words[outcome] ?? `${outcome} · `}${outcome === 'dropped' ? '' : duration(seconds)}`;
  }

  // --- drawing

  draw() {
    for (const entry of this.#dirty) {
      for (const view of entry.views) if (view.draw()) this.#hasty.add(entry);
      entry.rows = entry.views.reduce((sum, view) => sum + view.size, 0);
    }
    this.#dirty.clear();
    if (this.#hasty.size > 0) this.#whenQuiet();
    this.#bound();
    this.#stick();
  }

  #bound() {
    const shown = this.#order.slice(this.#firstShown);
    if (!this.#sticks) return;  // somebody reads further up
    let rows = shown.reduce((sum, entry) => sum + entry.rows, 0);
    while (shown.length > 1 && (shown.length > kMostBlocks || rows > kMostRows)) {
      const entry = shown.shift();
      rows -= entry.rows;
      entry.element.remove();
      ++this.#firstShown;
    }
    this.#earlier.hidden = this.#firstShown === 0;
    this.#earlier.textContent = `${count(this.#firstShown)} earlier blocks`;
  }

  #showEarlier() {
    const from = Math.max(0, this.#firstShown - 20);
    const height = this.#log.scrollHeight;
    this.#earlier.after(...this.#order.slice(from, this.#firstShown).map((entry) => entry.element));
    this.#firstShown = from;
    this.#sticks = false;
    this.#earlier.hidden = from === 0;
    this.#earlier.textContent = `${count(from)} earlier blocks`;
    this.#log.scrollTop += this.#log.scrollHeight - height;
  }

  #stick() {
    if (!this.#sticks) return;
    this.#log.scrollTop = this.#log.scrollHeight;
    this.#top = this.#log.scrollTop;
  }

  stickAgain() { this.#sticks = true; this.#stick(); }

  scrollTo(id) {
    const entry = this.#blocks.get(id);
    if (!entry) return false;
    if (!entry.element.isConnected) while (this.#firstShown > this.#order.indexOf(entry)) this.#showEarlier();
    this.#sticks = false;
    entry.element.scrollIntoView({block: 'nearest'});
    return true;
  }
}

// Python in colours without an editor.
function colour(element, text) {
  element.replaceChildren();
  const mode = CodeMirror.getMode({indentUnit: 4}, 'python');
  if (text.length > 20_000) { element.textContent = text; return; }
  const state = CodeMirror.startState(mode);
  text.split('\n').forEach((line, number) => {
    if (number > 0) element.append('\n');
    const stream = new CodeMirror.StringStream(line, 4);
    if (line === '' && mode.blankLine) mode.blankLine(state);
    while (!stream.eol()) {
      const style = mode.token(stream, state);
      element.append(style ? make('span', {class: style.split(' ').map((name) => `cm-${name}`).join(' ')}, stream.current()) : stream.current());
      stream.start = stream.pos;
    }
  });
  element.classList.add('cm-s-default');
}
