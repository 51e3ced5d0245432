// What a screen reader is told: results and errors in short, not each line of output.
import {byId, later} from './dom.js';

const kLongest = 400;
const said = later((region) => { region.textContent = ''; }, 10_000);

function put(region, text) {
  region.textContent = text.length > kLongest ? `${text.slice(0, kLongest)} …` : text;
  said(region);
}

export const say = (text) => put(byId('says'), text);
export const alarm = (text) => put(byId('alerts'), text);
