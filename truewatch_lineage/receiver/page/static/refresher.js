// Holds refreshes to few: one at a time, and never so often that a large graph would keep the page busy.

const LEAST = 700;
const REST = 3;

/** Runs a refresh soon after it was asked for, however often that is. */
export class Refresher {
  /** @param {function(): Promise<void>} refresh */
  constructor(refresh) {
    this.refresh = refresh;
    this.wanted = false;
    this.busy = false;
    this.next = 0;
  }

  /** Asks for a refresh. */
  ask() {
    this.wanted = true;
    if (!this.busy) this.#run();
  }

  async #run() {
    this.busy = true;
    while (this.wanted) {
      await new Promise((resolve) => { setTimeout(resolve, Math.max(0, this.next - performance.now())); });
      this.wanted = false;
      const began = performance.now();
      await this.refresh();
      const took = performance.now() - began;
      this.next = performance.now() + Math.max(LEAST, REST * took);
    }
    this.busy = false;
  }
}
