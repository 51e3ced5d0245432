// Who wants to hear of something says so by its name.
export class Events {
  #handlers = new Map();

  on(name, handler) {
    if (!this.#handlers.has(name)) this.#handlers.set(name, []);
    this.#handlers.get(name).push(handler);
  }

  emit(name, ...values) {
    for (const handler of this.#handlers.get(name) ?? []) {
      try {
        handler(...values);
      } catch (error) {
        console.error(name, error);  // one pane's fault must not keep a message from the others
      }
    }
  }
}
