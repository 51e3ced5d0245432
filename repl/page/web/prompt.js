// The line below the terminal: blocks of their own, with completion and the history of all sessions; and the field for what input() asks.
import {byId, make} from './dom.js';
import {addCompletion, around} from './completion.js';
import {makeCode} from './editor.js';

const kStateWithin = 400;  // milliseconds to hear whether a block is whole

export class Prompt {
  #connection;
  #blocks;
  #history = [];
  #at = null;    // place in the history; null: below it
  #below = '';   // what was being typed when the walk began

  constructor(connection, blocks) {
    this.#connection = connection;
    this.#blocks = blocks;
    this.code = makeCode(byId('prompt'), {viewportMargin: Infinity, lineWrapping: true, placeholder: 'x.shape  :tensors  torch.add?',
                                        isIdle: (code) => code.getValue() === ''});
    this.code.getInputField().setAttribute('aria-label', 'Prompt. Enter runs, Shift-Enter makes a new line. Tab completes; Escape, then Tab leaves the prompt.');
    this.code.addKeyMap({
      'Enter': () => { this.#enter(); },
      'Shift-Enter': 'newlineAndIndent',
      'Ctrl-Enter': () => this.#run(),
      'Up': () => this.#walk(-1),
      'Down': () => this.#walk(1),
      'Ctrl-C': (code) => {
        if (code.somethingSelected()) return CodeMirror.Pass;
        if (blocks.isBusy) blocks.interrupt();
        else code.setValue('');
        return undefined;
      },
    });
    addCompletion(this.code, connection, (code) => around(code, 0, code.lastLine()));
  }

  async load() {
    try {
      const answer = await this.#connection.ask({type: 'history'});
      if (answer.blocks) this.#history = answer.blocks;
    } catch { /* without it the line works as well */ }
  }

  // Whatever ran, in whichever pane.
  add(text) {
    if (this.#history.at(-1) !== text) this.#history.push(text);
    this.#at = null;
  }

  offer(text) {
    this.code.setValue(text);
    this.code.focus();
    this.code.setCursor(this.code.lastLine(), Infinity);
  }

  async #enter() {
    const {code} = this;
    const text = code.getValue();
    if (!text.trim()) return;
    const cursor = code.getCursor();
    const isAtEnd = cursor.line === code.lastLine();
    if (!isAtEnd) { code.execCommand('newlineAndIndent'); return; }
    const state = await this.#stateOf(text);
    if (code.getValue() !== text) return;
    if (state === 'incomplete') code.execCommand('newlineAndIndent');
    else this.#run();
  }

  async #stateOf(text) {
    const guess = text.includes('\n') ? (text.endsWith('\n') || /\n\s*$/.test(text) ? 'complete' : 'incomplete') : /[:\\([{,]\s*$/.test(text) ? 'incomplete' : 'complete';
    const patience = new Promise((done) => { setTimeout(() => done({}), kStateWithin); });
    try {
      const answer = await Promise.race([this.#connection.ask({type: 'state', text}), patience]);
      return answer.state ?? guess;
    } catch {
      return guess;
    }
  }

  #run() {
    const text = this.code.getValue().replace(/\s+$/, '');
    if (!text.trim()) return;
    if (!this.#blocks.runTerminal(text)) return;  // no server: what was typed stays
    this.code.setValue('');
    this.#at = null;
    this.onRun();
  }

  onRun = () => {};

  #walk(step) {
    const {code} = this;
    const {line} = code.getCursor();
    if (step < 0 ? line > 0 : line < code.lastLine()) return CodeMirror.Pass;
    const from = this.#at ?? this.#history.length;
    const to = from + step;
    if (to < 0 || to > this.#history.length) return undefined;
    if (this.#at === null) this.#below = code.getValue();
    this.#at = to === this.#history.length ? null : to;
    code.setValue(this.#at === null ? this.#below : this.#history[to]);
    code.setCursor(step < 0 ? 0 : code.lastLine(), Infinity);
    return undefined;
  }
}

// What input() asks: a field above the prompt line.
export class InputField {
  #connection;
  #place = byId('ask');
  #id = null;

  constructor(connection) { this.#connection = connection; }

  request({id, prompt, hidden}) {
    this.#id = id;
    const field = make('input', {type: hidden ? 'password' : 'text', autocomplete: 'off', spellcheck: 'false', 'aria-label': prompt || 'The program waits for a line'});
    const answer = (rest) => { if (this.#connection.send({type: 'input', id, ...rest})) this.done({id}); };
    const form = make('form', {class: 'input-field', onsubmit: (event) => { event.preventDefault(); answer({text: field.value}); }},
      make('label', {}, make('span', {class: 'input-prompt'}, prompt || 'The program waits for a line'), field),
      make('button', {type: 'submit', class: 'primary'}, 'Enter'),
      make('button', {type: 'button', class: 'quiet', title: 'The end of the input (Ctrl-D)', onclick: () => answer({end: true})}, 'End'));
    field.addEventListener('keydown', (event) => {
      if (event.key === 'd' && event.ctrlKey && field.value === '') { event.preventDefault(); answer({end: true}); }
    });
    this.#place.replaceChildren(form);
    this.onRequest();
    field.focus();
  }

  onRequest = () => {};

  done({id}) {
    if (id === this.#id || id === undefined) {
      this.#place.replaceChildren();
      this.#id = null;
    }
  }
}
