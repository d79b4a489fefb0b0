// A small picture of the whole graph, with what is seen of it; shown only where the graph is larger than the canvas.

import { el } from "./dom.js";

const WIDTH = 180;
const HEIGHT = 110;

/** The map in the corner of the stage. */
export class Minimap {
  /** @param {HTMLElement} host @param {import("./viewport.js").Viewport} viewport */
  constructor(host, viewport) {
    this.viewport = viewport;
    this.nodes = [];
    this.picture = new OffscreenCanvas(1, 1);
    this.canvas = el("canvas", { class: "minimap", "aria-hidden": "true", on: { pointerdown: (event) => this.#grab(event) } });
    host.append(this.canvas);
  }

  /** Draws the nodes once; `look` then adds only the frame. @param {Array} nodes Laid out. */
  show(nodes) {
    this.nodes = nodes.filter((node) => node.type !== "column");
    const { width, height } = this.viewport.bounds;
    this.scale = Math.min(WIDTH / width, HEIGHT / height);
    this.ratio = devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.picture]) {
      canvas.width = Math.max(1, Math.round(width * this.scale * this.ratio));
      canvas.height = Math.max(1, Math.round(height * this.scale * this.ratio));
    }
    const colour = getComputedStyle(this.canvas);
    const brush = this.picture.getContext("2d");
    brush.scale(this.ratio * this.scale, this.ratio * this.scale);
    for (const node of this.nodes) {
      brush.fillStyle = colour.getPropertyValue(node.state === "FAIL" ? "--fail" : node.type === "job" ? "--map-job" : "--map-dataset");
      brush.fillRect(node.x, node.y, node.width, node.height);
    }
    this.frame = colour.getPropertyValue("--accent");
    this.look();
  }

  /** Follows the viewport. */
  look() {
    const { x, y, k, size, bounds } = this.viewport;
    const small = bounds.width * k <= size.width && bounds.height * k <= size.height;
    this.canvas.classList.toggle("away", small || this.nodes.length < 12);
    if (small || !this.scale) return;
    const brush = this.canvas.getContext("2d");
    const step = this.scale * this.ratio;
    brush.clearRect(0, 0, this.canvas.width, this.canvas.height);
    brush.drawImage(this.picture, 0, 0);
    brush.lineWidth = 1.5 * this.ratio;
    brush.strokeStyle = this.frame;
    brush.strokeRect((-x / k) * step, (-y / k) * step, (size.width / k) * step, (size.height / k) * step);
  }

  #grab(down) {
    this.canvas.setPointerCapture(down.pointerId);
    const go = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const point = { x: (event.clientX - box.left) / this.scale, y: (event.clientY - box.top) / this.scale };
      this.viewport.centre({ ...point, width: 0, height: 0 });
    };
    go(down);
    this.canvas.addEventListener("pointermove", go);
    this.canvas.addEventListener("pointerup", () => this.canvas.removeEventListener("pointermove", go), { once: true });
  }
}
