// Light, dark, or as the system says. A plain script in the head: the choice stands before the first thing is drawn.
(() => {
  'use strict';
  const kKey = 'tessera.theme';
  const names = {system: 'as the system', light: 'light', dark: 'dark'};
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const stored = () => { try { return localStorage.getItem(kKey) || 'system'; } catch { return 'system'; } };
  const keep = (choice) => { try { localStorage.setItem(kKey, choice); } catch { /* it lasts until the page is loaded again */ } };

  let choice = names[stored()] ? stored() : 'system';
  const apply = () => {
    const dark = choice === 'dark' || (choice === 'system' && system.matches);
    document.documentElement.dataset.theme = dark ? 'dark' : 'light';
    document.dispatchEvent(new CustomEvent('theme'));
  };
  apply();
  system.addEventListener('change', apply);
  window.tesseraTheme = {
    word: () => names[choice],
    next() {
      const order = Object.keys(names);
      choice = order[(order.indexOf(choice) + 1) % order.length];
      keep(choice);
      apply();
      return names[choice];
    },
  };
})();
