// `In [3], line 2` in a traceback leads into the editor, or to the block in the terminal.
import {make} from './dom.js';

const kPlace = /(?:File )?"?In \[(\d+)\]"?(?:, line (\d+)|:(\d+))?/g;

// A function that makes of a text its parts: texts and links. `go(number, line)` follows one.
export function placeLinks(go) {
  return (text) => {
    if (!text.includes('In [')) return [text];
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(kPlace)) {
      const [whole, number, line, short] = found;
      parts.push(text.slice(at, found.index));
      parts.push(make('a', {href: '#editor', class: 'place', onclick: (event) => {
        event.preventDefault();
        go(Number(number), Number(line ?? short ?? 1));
      }}, whole));
      at = found.index + whole.length;
    }
    parts.push(text.slice(at));
    return parts.filter((part) => part !== '');
  };
}
