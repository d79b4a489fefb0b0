// Pans and zooms the graph.

const LEAST = 0.04;
const MOST = 2.5;
const READABLE = 0.5;
const START = 0.85;
const MARGIN = 40;
const DRAG_STARTS = 4;

/** The window through which the scene is seen: screen = scene × k + (x, y). */
export class Viewport {
  /**
   * @param {SVGSVGElement} canvas
   * @param {SVGGElement} scene
   * @param {function(): void} changed Called after every move.
   * @param {function(): number} covered How much of the canvas the tools cover, in pixels from its top.
   */
  constructor(canvas, scene, changed, covered) {
    this.canvas = canvas;
    this.scene = scene;
    this.changed = changed;
    this.covered = covered;
    this.x = 0;
    this.y = 0;
    this.k = 1;
    this.bounds = { width: 1, height: 1 };
    this.measure();
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
  }

  /** Takes the measure of the canvas; done while little waits to be laid out, since each question for a size costs a layout. */
  measure() {
    this.size = { width: this.canvas.clientWidth || 1, height: this.canvas.clientHeight || 1 };
    this.top = this.covered();
  }

  /** Shows the whole graph, however small it gets. */
  fit() {
    const { width, height } = this.size;
    const room = { width: width - 2 * MARGIN, height: height - this.top - 2 * MARGIN };
    const k = clamp(Math.min(room.width / this.bounds.width, room.height / this.bounds.height, 1.2));
    const y = this.top + (height - this.top - this.bounds.height * k) / 2;
    this.#move((width - this.bounds.width * k) / 2, y, k);
  }

  /**
   * Shows the whole graph if it is readable so, else its part around a box at a readable size.
   * @param {{x: number, y: number, width: number, height: number}|undefined} box
   */
  open(box) {
    this.fit();
    if (this.k >= READABLE) return;
    this.centre(box ?? { x: 0, y: 0, width: 0, height: 0 }, START);
    const { width, height } = this.size;
    const x = within(this.x, width - MARGIN - this.bounds.width * this.k, MARGIN);
    const y = within(this.y, height - 2 * MARGIN - this.bounds.height * this.k, this.top + MARGIN);
    this.#move(x, y, this.k);
  }

  /** Brings a box to the middle. @param {{x: number, y: number, width: number, height: number}} box @param {number} [k] */
  centre(box, k = this.k) {
    const { width, height } = this.size;
    this.#move(width / 2 - (box.x + box.width / 2) * k, height / 2 - (box.y + Math.min(box.height, height / k) / 2) * k, k);
  }

  /** Moves as little as is needed for a box to be seen. @param {{x: number, y: number, width: number, height: number}} box */
  reveal(box) {
    const { width, height } = this.size;
    const left = box.x * this.k + this.x;
    const top = box.y * this.k + this.y;
    const dx = shift(left, box.width * this.k, MARGIN, width - MARGIN);
    const dy = shift(top, box.height * this.k, this.top + MARGIN, height - MARGIN);
    if (dx || dy) this.#move(this.x + dx, this.y + dy, this.k);
  }

  /** Moves so that what was at `before` in the scene and is at `after` now stays where it is on the screen. */
  hold(before, after) {
    this.#move(this.x + (before.x - after.x) * this.k, this.y + (before.y - after.y) * this.k, this.k);
  }

  /** Zooms about a point of the canvas, by default its middle. @param {number} factor */
  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const k = clamp(this.k * factor);
    this.#move(x - ((x - this.x) * k) / this.k, y - ((y - this.y) * k) / this.k, k);
  }

  /** Pans by pixels. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.#move(this.x + dx, this.y + dy, this.k);
  }

  #move(x, y, k) {
    Object.assign(this, { x, y, k });
    this.scene.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${k.toFixed(4)})`);
    this.changed();
  }

  #wheel(event) {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (event.shiftKey) return this.pan(-(event.deltaX || event.deltaY) * unit, 0);
    const box = this.canvas.getBoundingClientRect();
    const speed = event.ctrlKey ? 0.01 : 0.0018;
    return this.zoom(Math.exp(-event.deltaY * unit * speed), event.clientX - box.left, event.clientY - box.top);
  }

  /** A drag begins only after a few pixels, so that a click stays a click. */
  #press(down) {
    if (down.button !== 0) return;
    let last = { x: down.clientX, y: down.clientY };
    let dragging = false;
    const move = (event) => {
      if (!dragging && Math.hypot(event.clientX - last.x, event.clientY - last.y) < DRAG_STARTS) return;
      if (!dragging) this.canvas.setPointerCapture(down.pointerId);
      dragging = true;
      this.canvas.classList.add("dragging");
      this.pan(event.clientX - last.x, event.clientY - last.y);
      last = { x: event.clientX, y: event.clientY };
    };
    const end = () => {
      this.canvas.removeEventListener("pointermove", move);
      this.canvas.classList.remove("dragging");
      if (dragging) this.canvas.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => this.canvas.removeEventListener("click", swallow, { capture: true }), 0);
    };
    this.canvas.addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, end, { once: true });
  }
}

function swallow(event) {
  event.stopPropagation();
}

function clamp(k) {
  return Math.min(MOST, Math.max(LEAST, k));
}

/** Keeps the drawing's edge from standing inside the canvas, so that no empty ground is shown; small drawings are centred. */
function within(start, least, most) {
  return least > most ? (least + most) / 2 : Math.min(most, Math.max(least, start));
}

function shift(start, length, least, most) {
  if (start < least || length > most - least) return least - start;
  return Math.min(0, most - start - length);
}
