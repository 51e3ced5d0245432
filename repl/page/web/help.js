// What is said of a name: when the pointer rests on it in the editor, and on F1.
import {later, make} from './dom.js';
import {textElement} from './stream_view.js';

const kRest = 600;  // milliseconds

// The dotted name at a place: of `torch.nn.Linear(` with the cursor in nn: "torch.nn".
export function nameAt(code, {line, ch}) {
  const text = code.getLine(line) ?? '';
  if (/comment|string/.test(code.getTokenTypeAt({line, ch: ch + 1}) ?? '')) return '';
  let end = ch;
  while (end < text.length && /[\p{L}\p{N}_]/u.test(text[end])) ++end;
  const before = /[\p{L}_][\p{L}\p{N}_.]*$/u.exec(text.slice(0, end));
  const name = before?.[0] ?? '';
  return name.endsWith('.') || /^(?:\d|and|or|not|in|is|for|if|else|elif|while|def|class|return|import|from|as|with|lambda|pass|try|except|True|False|None)$/.test(name) ? '' : name;
}

export class Help {
  #connection;
  #tip = make('div', {class: 'help-tip', role: 'tooltip', hidden: true, tabindex: '-1'});
  #number = 0;

  constructor(connection) {
    this.#connection = connection;
    document.body.append(this.#tip);
    this.#tip.addEventListener('pointerleave', () => { if (!this.#tip.contains(document.activeElement)) this.hide(); });
    this.#tip.addEventListener('keydown', (event) => { if (event.key === 'Escape') { this.hide(); this.#from?.focus(); } });
    document.addEventListener('pointerdown', (event) => { if (!this.#tip.contains(event.target)) this.hide(); });
  }

  #from = null;
  hide() { this.#tip.hidden = true; ++this.#number; }

  watch(code) {
    const element = code.getWrapperElement();
    const rest = later((x, y) => {
      const place = code.coordsChar({left: x, top: y}, 'window');
      const box = code.charCoords(place, 'window');
      if (Math.abs(box.left - x) > 30 || y < box.top || y > box.bottom || place.outside) return;
      const name = nameAt(code, place);
      if (name) this.show(code, name, box, false);
    }, kRest);
    element.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse' && event.buttons === 0) rest(event.clientX, event.clientY);
    });
    element.addEventListener('pointerleave', (event) => { rest.cancel(); if (!this.#tip.contains(event.relatedTarget)) this.hide(); });
    code.on('keydown', () => { rest.cancel(); this.hide(); });
    code.on('scroll', () => { rest.cancel(); this.hide(); });
  }

  // True: there was a name to be asked about.
  ask(code) {
    const name = nameAt(code, code.getCursor());
    if (!name) return false;
    this.show(code, name, code.cursorCoords(true, 'window'), true);
    return true;
  }

  async show(code, name, box, takesFocus) {
    const mine = ++this.#number;
    let answer;
    try {
      answer = await this.#connection.ask({type: 'help', name});
    } catch {
      return;
    }
    if (mine !== this.#number) return;
    const text = answer.busy ? 'A block runs: help comes when it is through.' : answer.text || answer.problem || `Nothing is known of ${name} yet: run the line that makes it.`;
    if ((answer.busy || !answer.text) && !takesFocus) return;
    this.#tip.replaceChildren(make('div', {class: 'help-name'}, name), textElement(text, null, 'help-text'));
    this.#tip.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.#tip;
    this.#tip.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 12))}px`;
    const below = box.bottom + 4;
    this.#tip.style.top = `${below + height < innerHeight ? below : Math.max(8, box.top - height - 4)}px`;
    if (takesFocus) { this.#from = code; this.#tip.focus(); }
  }
}
