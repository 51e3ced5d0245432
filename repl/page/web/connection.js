// The WebSocket to the server: kept up, asked and answered. Messages: ../protocol.md.
import {Events} from './events.js';

const kAnswerWithin = 20_000;  // milliseconds
const kLongestWait = 5_000;

export class Connection extends Events {
  #socket = null;
  #asks = new Map();
  #nextAsk = 1;
  #wait = 250;
  #timer = 0;
  connected = false;

  open() {
    clearTimeout(this.#timer);
    const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = this.#socket = new WebSocket(`${scheme}//${location.host}/session${location.search}`);
    socket.onopen = () => {
      this.connected = true;
      this.#wait = 250;
      this.emit('up');
    };
    socket.onmessage = (event) => this.#take(event.data);
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      const was = this.connected;
      this.connected = false;
      for (const {fail} of this.#asks.values()) fail(new Error('the server is gone'));
      this.#asks.clear();
      this.emit('down', was);
      if (!was) this.#askWhy();
      this.#timer = setTimeout(() => this.open(), this.#wait);
      this.#wait = Math.min(this.#wait * 1.6, kLongestWait);
    };
  }

  // A browser does not say why there was no connection: a server that has no place for us answers this as well.
  async #askWhy() {
    try {
      if ((await fetch('icon.svg', {cache: 'no-store'})).status === 403) this.emit('forbidden');
    } catch { /* there is no server */ }
  }

  #take(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      console.error('not a message', String(data).slice(0, 200));
      return;
    }
    const asked = message.ask !== undefined && this.#asks.get(message.ask);
    if (asked) {
      this.#asks.delete(message.ask);
      asked.done(message.type === 'problem' ? {...message, problem: message.text} : message);
    } else {
      this.emit('message', message);
      this.emit(message.type, message);
    }
  }

  // False: there is nobody to hear it.
  send(message) {
    if (!this.connected) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  // Drops the connection; it is made anew as when the server went away.
  drop() { this.#socket?.close(); }

  // Sends a question; the answer is the message with the same `ask`. Rejects when the server goes away or stays silent.
  ask(message) {
    return new Promise((done, fail) => {
      const ask = this.#nextAsk++;
      if (!this.send({...message, ask})) {
        fail(new Error('the server is gone'));
        return;
      }
      const timer = setTimeout(() => {
        this.#asks.delete(ask);
        fail(new Error(`no answer to ${message.type}`));
      }, kAnswerWithin);
      const settle = (f) => (value) => { clearTimeout(timer); f(value); };
      this.#asks.set(ask, {done: settle(done), fail: settle(fail)});
    });
  }
}
