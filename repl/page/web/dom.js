// Elements made in one call, and what all modules need of the document.

// make('div', {class: 'row', onclick: f, title: 'x'}, 'text', child, [more]): texts are texts, never HTML.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function makeSvg(tag, properties = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(element, properties);
  element.append(...children.flat(Infinity));
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
}

export const byId = (id) => document.getElementById(id);

// Joins calls within one frame to one. A hidden tab has no frames: a timer stands in for them.
export function perFrame(f) {
  let asked = false;
  const now = () => { asked = false; f(); };
  return () => {
    if (asked) return;
    asked = true;
    if (document.hidden) setTimeout(now, 50);
    else requestAnimationFrame(now);
  };
}

export function later(f, milliseconds) {
  let timer = 0;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...values), milliseconds);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

export function onTheme(f) {
  document.addEventListener('theme', f);
}

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
