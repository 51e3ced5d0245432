// The document: its name, whether it is saved, and how its text stays the same in all tabs.
//
// `base` is the text of the server's `version`. What the editor has beyond it goes out as one change; until that is answered no other
// goes. When another tab was faster the server refuses ours: where the two touched different places both are kept, else a person
// decides. Nothing that was typed is lost on the way, nor while there is no server.
import {byId, later} from './dom.js';
import {difference} from './editor.js';
import {Events} from './events.js';

const kGather = 60;  // milliseconds
const kDraft = 'tessera.draft.';

export class Document extends Events {
  #connection;
  #editor;
  #base = '';
  #version = 0;
  #id = 0;         // the server counts the documents that it has had
  #sent = null;   // the text that the server was asked to take
  #timer = 0;
  #asking = false;
  #known = false;  // a document came
  #savedText = null;
  name = '';
  path = '';
  format = 'tsr';

  constructor(connection, editor) {
    super();
    this.#connection = connection;
    this.#editor = editor;
    editor.on('changes', () => {
      if (this.#known) this.#schedule();
      this.#showSaved();
    });
    connection.on('document', (message) => this.take(message));
    connection.on('edited', (message) => this.#edited(message));
    connection.on('refused', (message) => this.#meet(message.text, message.version));
    connection.on('saved', (message) => this.#saved(message));
    connection.on('down', () => { this.#sent = null; });
    window.addEventListener('beforeunload', (event) => {
      this.#keepDraft();
      if (this.#known && !connection.connected && this.hasUnsent) event.preventDefault();
    });
  }

  get hasUnsent() { return this.#editor.text !== this.#base; }
  // As an edit of the document at hand.
  replace(text) { this.#editor.setText(text, '+put'); }

  get isSaved() { return this.#savedText === this.#editor.text; }

  // Of the server, when the page connects.
  hello(message) {
    const mine = this.#editor.text;
    const isFirst = !this.#known;
    const wasUnsent = this.#known && mine !== this.#base;
    const base = this.#base;
    const before = {id: this.#id, name: this.name};
    if (isFirst || !wasUnsent) {
      this.#load(message, isFirst || message.path !== this.path);
      if (isFirst) this.#offerDraft();
      return;
    }
    if (message.id !== before.id) {  // another document: what was typed is not of it
      this.#setAside(mine);
      this.#load(message, true);
      this.emit('left', {name: before.name, text: mine});
      return;
    }
    // What was typed while the server was away stands on `base`.
    this.#head(message);
    this.#base = base;
    this.#meet(message.text, message.version);
  }

  take(message) {
    this.#load(message, true);
    this.emit('opened', message);
  }

  #load(message, isOther) {
    this.#head(message);
    this.#base = message.text;
    this.#sent = null;
    this.#known = true;
    this.#editor.code.setOption('readOnly', false);
    if (isOther) this.#editor.load(message.text);
    else this.#editor.setText(message.text);
    this.#showName();
  }

  #head(message) {
    ({name: this.name, path: this.path, format: this.format, id: this.#id} = message);
    this.#version = message.version;
    this.#savedText = message.saved ? message.text : null;
  }

  #schedule() {
    if (this.#timer || this.#asking) return;
    this.#timer = setTimeout(() => { this.#timer = 0; this.flush(); }, kGather);
  }

  // When the server has all of the text; false: it did not come to that.
  async settled(milliseconds = 5000) {
    const end = performance.now() + milliseconds;
    while (this.hasUnsent && performance.now() < end) {
      this.flush();
      await new Promise((done) => { setTimeout(done, 10); });
    }
    return !this.hasUnsent;
  }

  // Sends what is not sent: before a run and before saving as well.
  flush() {
    if (this.#sent !== null || this.#asking || !this.#known) return;
    const text = this.#editor.text;
    if (text === this.#base) return;
    const [from, to, end] = difference(this.#base, text);
    const changes = [{from, to, text: text.slice(from, end)}];
    if (this.#connection.send({type: 'edit', version: this.#version, changes})) this.#sent = text;
    else this.#keepDraft();
  }

  #edited(message) {
    if (message.taken) {
      this.#version = message.version;
      if (this.#sent !== null) this.#base = this.#sent;
      this.#sent = null;
      this.#forgetDraft();
      if (this.hasUnsent) this.#schedule();
      return;
    }
    if (this.#sent !== null) return;  // ours comes too late and will be refused, with the whole text
    let text = this.#base;
    for (const {from, to, text: put} of message.changes) text = text.slice(0, from) + put + text.slice(to);
    this.#meet(text, message.version);
  }

  // The server's text is `theirs` now; the editor's stands on #base.
  async #meet(theirs, version) {
    const base = this.#base, mine = this.#editor.text;
    this.#sent = null;
    const both = merge(base, mine, theirs);
    this.#version = version;
    this.#base = theirs;
    if (both !== null) {
      this.#editor.setText(both);
      if (both !== theirs) this.#schedule();
      return;
    }
    this.#asking = true;
    try {
      if (await this.onConflict(mine, theirs) === 'theirs') {
        this.#setAside(this.#editor.text);
        this.#editor.setText(this.#base);
      }
    } finally {
      this.#asking = false;
      this.#schedule();
    }
  }

  onConflict = async () => 'mine';

  #setAside(text) {
    try { localStorage.setItem(`${kDraft}aside`, text); } catch { /* Undo brings it back as well */ }
  }

  #saved(message) {
    this.path = message.path;
    this.name = message.path.split('/').pop();
    this.format = message.format;
    if (message.version === this.#version) this.#savedText = this.#base;
    this.#forgetDraft();
    this.#showName();
    this.emit('saved', message);
  }

  // --- a draft in the browser: of what no server has

  #draftKey() { return `${kDraft}${this.path || this.name}`; }

  #keepDraft() {
    if (!this.#known || !this.hasUnsent) return;
    try {
      localStorage.setItem(this.#draftKey(), JSON.stringify({base: this.#base, text: this.#editor.text}));
    } catch { /* no room: the editor still has it */ }
  }

  #forgetDraft() {
    try { localStorage.removeItem(this.#draftKey()); } catch { /* nothing was kept */ }
  }

  #offerDraft() {
    let draft = null;
    try { draft = JSON.parse(localStorage.getItem(this.#draftKey()) ?? 'null'); } catch { /* not ours */ }
    if (typeof draft?.text !== 'string' || draft.text === this.#base) return;
    this.emit('draft', {
      take: () => { this.#forgetDraft(); this.#editor.setText(merge(draft.base, draft.text, this.#base) ?? draft.text, '+draft'); },
      drop: () => this.#forgetDraft(),
    });
  }

  // Of a long text not at each key.
  #showSaved = later(() => this.#showName(), 80);

  #showName() {
    const name = this.name || 'untitled.tsr';
    byId('name').textContent = name;
    byId('name').title = this.path || 'not in a file';
    byId('unsaved').hidden = this.isSaved;
    document.title = `${this.isSaved ? '' : '● '}${name} – Tessera`;
  }
}

// Both changes of `base` in one text; null: they touch the same place.
export function merge(base, mine, theirs) {
  if (mine === base || mine === theirs) return theirs;
  if (theirs === base) return mine;
  const [a, aEnd, aNew] = difference(base, mine);
  const [b, bEnd, bNew] = difference(base, theirs);
  if (aEnd < b) return theirs.slice(0, a) + mine.slice(a, aNew) + theirs.slice(aEnd);
  if (bEnd < a) return mine.slice(0, b) + theirs.slice(b, bNew) + mine.slice(bEnd);
  return null;
}
