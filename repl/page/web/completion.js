// Completion and call help from the server, in the editor and at the prompt line.
import {later, make} from './dom.js';

const kLongestSent = 200_000;  // characters around the cursor
const kWord = /[\p{L}\p{N}_]/u;

const kHintOptions = {
  alignWithWord: true,
  closeCharacters: /[\s()[\]{};:<>,=+\-*/'"?!%@&|^~]/,
  // Enter takes the candidate; where that is what stands there already it means what it means without a list.
  extraKeys: {Enter: (code, list) => {
    const {data, selectedHint} = code.state.completionActive.widget;
    const chosen = data.list[selectedHint];
    if ((chosen.text ?? chosen) === code.getRange(data.from, code.getCursor())) {
      list.close();
      return CodeMirror.Pass;
    }
    list.pick();
    return undefined;
  }},
};

// context(code) → {text, cursor (index in text), from (index of the text's start in the code)}
export function addCompletion(code, connection, context) {
  const hint = async (editor) => {
    const {text, cursor, start} = context(editor);
    let answer;
    try {
      answer = await connection.ask({type: 'complete', text, cursor});
    } catch {
      return undefined;
    }
    if (answer.busy || answer.problem || !answer.candidates) return words(editor);
    if (answer.candidates.length === 0) return undefined;
    return {
      from: editor.posFromIndex(start + answer.begin),
      to: editor.posFromIndex(start + answer.end),
      list: answer.candidates.map((candidate) => ({text: candidate.text, displayText: candidate.text, render: (element) => element.append(...drawn(candidate))})),
    };
  };
  const complete = () => code.showHint({hint, completeSingle: true, ...kHintOptions});
  code.addKeyMap({'Ctrl-Space': complete, 'Tab': (editor) => {
    const {line, ch} = editor.getCursor();
    const before = editor.getLine(line).slice(0, ch);
    if (editor.somethingSelected() || !/[\p{L}\p{N}_.%!]$/u.test(before)) return CodeMirror.Pass;
    complete();
    return undefined;
  }});
  code.on('inputRead', (editor, change) => {
    if (change.text.length === 1 && change.text[0] === '.' && !editor.state.completionActive) {
      const {line, ch} = editor.getCursor();
      if (/[\p{L}_)\]]\.$/u.test(editor.getLine(line).slice(0, ch)) && !/string|comment/.test(editor.getTokenTypeAt({line, ch}) ?? '')) {
        editor.showHint({hint, completeSingle: false, ...kHintOptions});
      }
    }
  });
  addCallHelp(code, connection, context);
}

function drawn({text, kind, note}) {
  return [make('span', {class: `kind kind-${kind}`, 'aria-hidden': 'true', title: kind}, letters[kind] ?? '·'),
          make('span', {class: 'hint-text'}, text), make('span', {class: 'hint-note'}, note ?? '')];
}

const letters = {function: 'ƒ', method: 'ƒ', class: 'C', module: 'M', tensor: 'T', keyword: 'k', argument: '=', key: '"', file: '/', command: ':', variable: 'x'};

// While a block runs nobody can be asked: the words that stand in the text.
function words(editor) {
  const {line, ch} = editor.getCursor();
  const text = editor.getLine(line);
  let start = ch;
  while (start > 0 && kWord.test(text[start - 1])) --start;
  const word = text.slice(start, ch);
  if (!word) return undefined;
  const found = new Set(editor.getValue().match(/[\p{L}_][\p{L}\p{N}_]*/gu)?.filter((other) => other.startsWith(word) && other !== word));
  return {from: {line, ch: start}, to: {line, ch}, list: [...found].sort().slice(0, 50)};
}

// The text of the cell about the cursor, of a monstrous one the part before the cursor.
export function around(code, firstLine, lastLine) {
  const from = code.indexFromPos({line: firstLine, ch: 0});
  const cursor = code.indexFromPos(code.getCursor());
  const text = code.getRange({line: firstLine, ch: 0}, {line: lastLine});
  const cut = Math.max(0, cursor - from - kLongestSent);
  return {text: text.slice(cut, cursor - from + kLongestSent), cursor: cursor - from - cut, start: from + cut};
}

function addCallHelp(code, connection, context) {
  const tip = make('div', {class: 'call-help', role: 'tooltip', hidden: true});
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  let number = 0, typed = false;
  const look = later(async () => {
    const mine = ++number;
    if (!typed && tip.hidden || !code.hasFocus()) return;
    const {text, cursor} = context(code);
    if (!text.slice(0, cursor).includes('(')) { hide(); return; }
    let answer;
    try {
      answer = await connection.ask({type: 'call', text, cursor});
    } catch {
      return;
    }
    if (mine !== number || !code.hasFocus()) return;
    if (!answer.signature || answer.busy) { hide(); return; }
    const {signature, begin, end} = answer;
    tip.replaceChildren(signature.slice(0, begin), make('b', {}, signature.slice(begin, end)), signature.slice(end));
    const place = code.cursorCoords(true, 'window');
    tip.hidden = false;
    const width = tip.offsetWidth, height = tip.offsetHeight;
    tip.style.left = `${Math.max(8, Math.min(place.left - 20, innerWidth - width - 8))}px`;
    const top = code.getWrapperElement().closest('.pane').getBoundingClientRect().top;
    tip.style.top = `${place.top - height - 6 >= top ? place.top - height - 6 : place.bottom + 6}px`;
  }, 120);
  code.on('change', (_, change) => { typed = change.origin === '+input' || change.origin === '+delete' || change.origin === 'complete'; });
  code.on('cursorActivity', look);
  code.on('blur', () => { look.cancel(); hide(); });
  code.on('scroll', hide);
  code.on('keydown', (_, event) => {
    if (event.key === 'Escape' && !tip.hidden) { typed = false; hide(); }
  });
}
