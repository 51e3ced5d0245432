// Three panes with dividers on a wide screen, one pane and tabs on a narrow one.
import {byId} from './dom.js';

const kKey = 'tessera.panes';
const kUsual = {inspector: 50, terminal: 38};  // percent of the width and of the height; style.css has them too
const kPanes = ['editor', 'terminal', 'inspector'];

export class Layout {
  #panes = document.querySelector('.panes');
  #sizes = {...kUsual};

  constructor() {
    try { Object.assign(this.#sizes, JSON.parse(localStorage.getItem(kKey) ?? '{}')); } catch { /* the usual sizes */ }
    this.#divider(byId('divider-inspector'), 'inspector', [15, 75], (event, box) => (box.right - event.clientX) / box.width, ['ArrowLeft', 'ArrowRight']);
    this.#divider(byId('divider-terminal'), 'terminal', [10, 85], (event, box) => (box.bottom - event.clientY) / box.height, ['ArrowUp', 'ArrowDown']);
    this.#apply();
    this.#tabs();
  }

  #apply() {
    for (const [name, size] of Object.entries(this.#sizes)) {
      if (Number.isFinite(size)) this.#panes.style.setProperty(`--${name}`, `${size}%`);
      byId(`divider-${name}`)?.setAttribute('aria-valuenow', String(Math.round(size)));
    }
  }

  #divider(element, name, [least, most], share, [more, less]) {
    const set = (size) => {
      this.#sizes[name] = Math.max(least, Math.min(most, size));
      this.#apply();
      try { localStorage.setItem(kKey, JSON.stringify(this.#sizes)); } catch { /* not kept */ }
      this.onResize();
    };
    element.addEventListener('pointerdown', (event) => {
      event.preventDefault();
      element.setPointerCapture(event.pointerId);
      element.classList.add('held');
    });
    element.addEventListener('pointermove', (event) => {
      if (element.hasPointerCapture(event.pointerId)) set(share(event, this.#panes.getBoundingClientRect()) * 100);
    });
    element.addEventListener('lostpointercapture', () => element.classList.remove('held'));
    element.addEventListener('dblclick', () => set(kUsual[name]));
    element.addEventListener('keydown', (event) => {
      const step = event.shiftKey ? 10 : 2;
      const to = {[more]: this.#sizes[name] + step, [less]: this.#sizes[name] - step, Home: least, End: most}[event.key];
      if (to === undefined) return;
      event.preventDefault();
      set(to);
    });
  }

  onResize = () => {};

  get isNarrow() { return getComputedStyle(document.querySelector('.tabs')).display !== 'none'; }

  #tabs() {
    for (const name of kPanes) {
      const tab = byId(`tab-${name}`);
      tab.addEventListener('click', () => this.show(name));
      tab.addEventListener('keydown', (event) => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (!step) return;
        event.preventDefault();
        const to = kPanes[(kPanes.indexOf(name) + step + kPanes.length) % kPanes.length];
        this.show(to);
        byId(`tab-${to}`).focus();
      });
    }
    this.show('editor');
  }

  // On a narrow screen the pane comes to the front.
  show(name) {
    this.#panes.dataset.shown = name;
    for (const pane of kPanes) {
      const is = pane === name;
      byId(`tab-${pane}`).setAttribute('aria-selected', String(is));
      byId(`tab-${pane}`).tabIndex = is ? 0 : -1;
      if (is) byId(`tab-${pane}`).classList.remove('news');
    }
    this.onResize();
  }

  // Something came in a pane that is not in front.
  news(name) {
    if (this.#panes.dataset.shown !== name) byId(`tab-${name}`).classList.add('news');
  }

  focus(name) {
    this.show(name);
    const inner = byId(name).querySelector('.CodeMirror textarea, .CodeMirror [contenteditable], input, tr[tabindex="0"], .log');
    (inner ?? byId(name)).focus();
  }
}

