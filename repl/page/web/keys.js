// The keys of the page, in one table: what is bound and what the list says.
import {make} from './dom.js';
import {dialog} from './dialogs.js';

// [keys as CodeMirror writes them, what it says in the list, name of the action]. Those with an action hold in the whole page.
const kKeys = [
  ['Run', [
    ['Ctrl-Enter', 'run the cell', 'runCell'],
    ['Shift-Enter', 'run the cell and go to the next', 'runCellAndGo'],
    ['Ctrl-Shift-Enter', 'run all', 'runAll'],
    ['Ctrl-Alt-Enter', 'run the selected lines', 'runSelection'],
    ['Ctrl-.', 'interrupt', 'interrupt'],
    ['Ctrl-Shift-R', 'restart: all names go', 'restart'],
  ]],
  ['Panes', [
    ['Alt-1', 'to the editor', 'toEditor'],
    ['Alt-2', 'to the terminal\'s prompt', 'toTerminal'],
    ['Alt-3', 'to the tensor inspector', 'toInspector'],
    ['Ctrl-L', 'empty the terminal', 'clear'],
    ['Esc, Tab', 'out of the editor and of the prompt; arrow keys move a divider'],
  ]],
  ['Editor', [
    ['Alt-Up', 'to the cell above'], ['Alt-Down', 'to the cell below'],
    ['Ctrl-Space', 'complete; Tab behind a name as well'],
    ['F1', 'help of the name at the cursor; elsewhere this list', 'help'],
    ['Ctrl-/', 'comment lines or uncomment them'], ['Ctrl-F', 'search'], ['Alt-G', 'to a line'],
    ['Ctrl-Z', 'undo'],
  ]],
  ['Files', [
    ['Ctrl-S', 'save', 'save'], ['Ctrl-Shift-S', 'save under another name', 'saveAs'], ['Ctrl-O', 'open', 'open'],
  ]],
  ['At the prompt', [
    ['Enter', 'run; a block that is not whole goes on in the next line'],
    ['Shift-Enter', 'a new line'], ['Up, Down', 'earlier and later blocks'], ['Ctrl-C', 'interrupt, or drop the line'],
  ]],
];

export function bindKeys(actions) {
  const bound = new Map(kKeys.flatMap(([, list]) => list).filter(([, , action]) => action).map(([key, , action]) => [key, action]));
  window.addEventListener('keydown', (event) => {
    if (document.querySelector('dialog[open]')) return;
    const action = bound.get(nameOf(event));
    if (!action || !actions[action]) return;
    const atPrompt = event.target.closest?.('#prompt, .input-field, dialog, .CodeMirror-dialog');
    if (atPrompt && /Enter$/.test(nameOf(event)) && !/^Ctrl-Shift/.test(nameOf(event))) return;  // those have their own
    if (event.key === 'Enter' && event.target.closest?.('button, a, input, summary, tr[data-index], [role=button]')) return;
    if (actions[action](event) === false) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}

function nameOf(event) {
  let key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
  if (event.altKey && /^Digit\d$/.test(event.code)) key = event.code.slice(5);  // some keyboards write other signs with Alt
  return `${event.ctrlKey || event.metaKey ? 'Ctrl-' : ''}${event.altKey ? 'Alt-' : ''}${event.shiftKey ? 'Shift-' : ''}${key}`;
}

export function showKeys() {
  return dialog('Keys', () => make('div', {class: 'key-list'}, kKeys.map(([group, list]) => make('section', {}, make('h3', {}, group),
    make('dl', {}, list.map(([key, word]) => [make('dt', {}, key.split(', ').map((k, i) => [i > 0 && ' ', k.split(/-(?!$)/).map((part) => make('kbd', {}, part))])), make('dd', {}, word)]))))), 'keys');
}
