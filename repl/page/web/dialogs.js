// Questions and lists in front of the page; Escape answers with nothing.
import {byId, make} from './dom.js';

// content(close) → elements. Resolves with what close() was given, undefined for Escape.
export function dialog(title, content, className = '') {
  return new Promise((done) => {
    const element = make('dialog', {class: className, 'aria-label': title});
    let value;
    // Of a hidden tab the browser tells `close` only when it is seen again: the answer does not wait for that.
    const finish = () => { element.remove(); done(value); };
    const close = (answer) => { value = answer; element.close(); finish(); };
    element.append(make('div', {class: 'dialog-title'}, make('h2', {}, title),
      make('button', {type: 'button', class: 'quiet close', 'aria-label': 'Close', onclick: () => close(undefined)}, '×')), ...[content(close)].flat());
    element.addEventListener('close', finish);
    element.addEventListener('pointerdown', (event) => { if (event.target === element) close(undefined); });
    document.body.append(element);
    element.showModal();
    const first = element.querySelector('[autofocus]');
    first?.focus();
    first?.select?.();
  });
}

// answers: [[value, label]]; the first is the one that Enter gives.
export function question(title, text, answers) {
  return dialog(title, (close) => [
    make('p', {class: 'dialog-text'}, text),
    make('div', {class: 'dialog-buttons'}, answers.map(([value, label], i) =>
      make('button', {type: 'button', class: i === 0 ? 'primary' : '', autofocus: i === 0, onclick: () => close(value)}, label))),
  ], 'question');
}

// A line at the top of the page that stays until it is answered or taken away. → a function that takes it away
export function notice(text, {kind = '', actions = [], name = ''} = {}) {
  if (name) document.querySelector(`[data-notice="${name}"]`)?.remove();
  const away = () => element.remove();
  const element = make('div', {class: `notice ${kind}`, role: kind === 'bad' ? 'alert' : 'status', 'data-notice': name}, make('span', {}, text),
    actions.map(([label, f]) => make('button', {type: 'button', onclick: () => { away(); f(); }}, label)),
    make('button', {type: 'button', class: 'quiet close', 'aria-label': 'Hide', onclick: away}, '×'));
  byId('notices').append(element);
  return away;
}

export const noticeAway = (name) => document.querySelector(`[data-notice="${name}"]`)?.remove();
