// Examples, opening and saving.
import {make} from './dom.js';
import {dialog, notice, question} from './dialogs.js';
import {bytes} from './format.js';
import {say} from './announce.js';

export class Files {
  #connection;
  #document;
  #pending = null;
  examples = [];
  folder = '';

  constructor(connection, document) {
    this.#connection = connection;
    this.#document = document;
    connection.on('saved', (message) => say(`Saved as ${message.path}`));
    connection.on('exists', (message) => this.#exists(message));
  }

  // True: nothing unsaved is in the way, or it may go.
  async #mayReplace() {
    if (this.#document.isSaved) return true;
    const answer = await question('Not saved', `${this.#document.name || 'The document'} has changes that are in no file.`,
      [['save', 'Save first'], ['drop', 'Go on without saving'], [undefined, 'Back']]);
    if (answer === 'drop') return true;
    if (answer === 'save') this.save();
    return false;
  }

  async chooseExample() {
    const groups = new Map([['Notebooks', []]]);  // first: they explain what they do
    for (const example of this.examples) {
      const group = example.group || 'Examples';
      if (!groups.has(group)) groups.set(group, []);
      groups.get(group).push(example);
    }
    const chosen = await dialog('Examples', (close) => make('div', {class: 'choices'}, this.examples.length === 0 && make('p', {class: 'empty'}, 'The server has no examples.'),
      [...groups].filter(([, list]) => list.length > 0).map(([group, list]) => make('section', {}, make('h3', {}, group), list.map((example) =>
        make('button', {type: 'button', class: 'choice', 'data-example': example.name, onclick: () => close(example)},
          make('b', {}, example.title || example.name), make('span', {class: 'dim'}, (example.about ?? '').replace(/[*`]/g, ''))))))), 'list');
    if (chosen && await this.#mayReplace()) this.#connection.send({type: 'open', example: chosen.name});
  }

  async open() {
    const path = await this.#browse();
    if (path && await this.#mayReplace()) this.#connection.send({type: 'open', path});
  }

  async new() {
    if (await this.#mayReplace()) this.#connection.send({type: 'new'});
  }

  #browse() {
    return dialog('Open', (close) => {
      const list = make('div', {class: 'choices files', role: 'group', 'aria-label': 'Files'});
      const where = make('div', {class: 'dim path'});
      const show = async (folder, focus) => {
        let answer;
        try {
          answer = await this.#connection.ask({type: 'files', folder});
        } catch (error) {
          answer = {problem: error.message};
        }
        if (answer.problem) { where.textContent = answer.problem; return; }
        where.textContent = [this.folder, answer.folder].filter(Boolean).join('/');
        const up = answer.parent !== null && answer.parent !== undefined;
        list.replaceChildren(...[
          up && make('button', {type: 'button', class: 'choice file', onclick: () => show(answer.parent, true)}, make('b', {}, '↑ ..')),
          (answer.entries ?? []).map((entry) => make('button', {type: 'button', class: `choice file ${entry.kind}`, 'data-path': entry.path,
            onclick: () => (entry.kind === 'folder' ? show(entry.path, true) : close(entry.path))},
            make('b', {}, entry.kind === 'folder' ? `${entry.name}/` : entry.name),
            make('span', {class: 'dim'}, entry.kind === 'folder' ? '' : `${bytes(entry.bytes)}${entry.changed ? ` · ${date(entry.changed)}` : ''}`))),
        ].flat().filter(Boolean));
        if (list.children.length === 0) list.append(make('p', {class: 'empty'}, 'No .tsr or .ipynb file is here.'));
        if (focus || !list.contains(document.activeElement)) list.querySelector('button')?.focus();
      };
      show('', true);
      return [where, list];
    }, 'list');
  }

  async save(asOther = false) {
    const doc = this.#document;
    if (doc.path && !asOther) { this.#save({path: doc.path, format: doc.format}); return; }
    const answer = await dialog('Save', (close) => {
      const stem = (doc.path || doc.name || 'untitled.tsr').replace(/\.(tsr|ipynb|py)$/, '');
      const field = make('input', {type: 'text', value: `${stem}.${doc.format === 'ipynb' ? 'ipynb' : 'tsr'}`, spellcheck: 'false', autofocus: true, 'aria-label': 'File name', id: 'save-name'});
      const kind = (format, word) => make('label', {class: 'radio'}, make('input', {type: 'radio', name: 'format', value: format, checked: doc.format === format || format === 'tsr' && doc.format !== 'ipynb',
        onchange: () => { field.value = field.value.replace(/(\.(tsr|ipynb|py))?$/, `.${format}`); }}), word);
      return make('form', {class: 'save-form', onsubmit: (event) => {
        event.preventDefault();
        const format = event.target.elements.format.value;
        const name = field.value.trim();
        if (name) close({path: /\.(tsr|ipynb|py)$/.test(name) ? name : `${name}.${format}`, format: name.endsWith('.ipynb') ? 'ipynb' : /\.(tsr|py)$/.test(name) ? 'tsr' : format});
      }}, make('label', {}, make('span', {}, `In ${this.folder || 'the served folder'}`), field),
        make('div', {class: 'radios'}, kind('tsr', 'A program (.tsr): the text'), kind('ipynb', 'A notebook (.ipynb): text and outputs')),
        make('div', {class: 'dialog-buttons'}, make('button', {type: 'submit', class: 'primary'}, 'Save')));
    }, 'question');
    if (answer) this.#save(answer);
  }

  async #save(what) {
    this.#pending = what;
    await this.#document.settled();
    if (!this.#connection.send({type: 'save', ...what})) notice('There is no server to save it. The text stays here.', {kind: 'bad', name: 'save'});
  }

  async #exists({path, format, changed}) {
    if (!this.#pending) return;
    this.#pending = null;
    const answer = await question(changed ? 'The file was changed' : 'There is such a file',
      changed ? `${path} was changed by somebody else since it was opened here. Write over it?` : `${path} is another file. Write over it?`, [[undefined, 'Back'], ['over', 'Write over it']]);
    if (answer === 'over') this.#save({path, format, overwrite: true});
  }
}

const date = (seconds) => new Date(seconds * 1000).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
