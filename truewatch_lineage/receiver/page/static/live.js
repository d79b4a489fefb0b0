// Follows what arrives: server-sent events, reconnected for as long as the page is open.

const RETRY = 2000;

/**
 * @typedef {Object} LiveHandlers
 * @property {function({seq: number}): void} hello Connected; the last event that is stored.
 * @property {function(Object): void} changed
 * @property {function(): void} cleared
 * @property {function(Object): void} refused An event was refused.
 * @property {function(): void} lost The connection is gone and is being tried again.
 */

/**
 * Follows the receiver.
 * @param {function(): string} address
 * @param {LiveHandlers} handlers
 */
export function follow(address, handlers) {
  const connect = () => {
    const source = new EventSource(address());
    const data = (act) => (event) => act(JSON.parse(event.data));
    source.addEventListener("hello", data(handlers.hello));
    source.addEventListener("changed", data(handlers.changed));
    source.addEventListener("cleared", () => handlers.cleared());
    source.addEventListener("refused", data(handlers.refused));
    source.addEventListener("error", () => {
      handlers.lost();
      // The browser's own retry gives up after an answer that is no stream, and waits longer than a restart takes.
      source.close();
      setTimeout(connect, RETRY);
    });
  };
  connect();
}
