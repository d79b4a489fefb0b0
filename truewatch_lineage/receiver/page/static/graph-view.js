// The graph on the stage: draws what the API laid out, lights paths, and takes clicks and keys.

import { svg } from "./dom.js";
import { neighbour } from "./graph-keys.js";
import { drawEdge, drawNode } from "./graph-shapes.js";
import { Minimap } from "./minimap.js";
import { pathsThrough } from "./paths.js";
import { Viewport } from "./viewport.js";

const FAR = 0.58;
const TINY = 0.2;
const PAN = 60;

/**
 * @typedef {Object} Handlers
 * @property {function(string|null): void} select A node was chosen, or nothing.
 * @property {function(string): void} centre A node is to be the middle.
 * @property {function(string): void} toggle A dataset's columns are to be opened or closed.
 */

/** The graph. */
export class GraphView {
  /**
   * @param {SVGSVGElement} canvas
   * @param {HTMLElement} corner Where the map goes.
   * @param {HTMLElement} tools What covers the canvas's top.
   * @param {Handlers} handlers
   */
  constructor(canvas, corner, tools, handlers) {
    this.canvas = canvas;
    this.handlers = handlers;
    this.graph = { nodes: [], edges: [] };
    this.shapes = new Map();
    this.selected = null;
    this.scene = svg("g", { class: "scene" });
    canvas.append(arrow(), this.scene);
    this.viewport = new Viewport(canvas, this.scene, () => this.#moved(), () => tools.offsetTop + tools.offsetHeight);
    this.map = new Minimap(corner, this.viewport);
    canvas.addEventListener("click", (event) => this.#click(event));
    canvas.addEventListener("dblclick", (event) => this.#doubleClick(event));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("focusin", (event) => this.#focused(event.target));
    new ResizeObserver(() => {
      this.viewport.measure();
      this.#moved();
    }).observe(canvas);
  }

  /**
   * Draws a graph.
   * @param {Object} graph As `/api/graph` answers it with a layout.
   * @param {{keep: boolean, news: boolean}} how `keep`: the reader stays where they look, else the graph is brought into view;
   * `news`: what is new or has another state is marked for a moment.
   */
  show(graph, { keep, news }) {
    const anchor = keep ? this.#anchor() : undefined;
    const states = new Map(this.graph.nodes.map((node) => [node.id, node.state]));
    this.graph = graph;
    this.nodes = new Map(graph.nodes.map((node) => [node.id, node]));
    this.viewport.bounds = { width: Math.max(1, graph.layout.width), height: Math.max(1, graph.layout.height) };
    this.viewport.measure();
    this.#draw(news ? states : undefined);
    this.light(this.selected);
    const after = anchor && this.nodes.get(anchor.id);
    if (after) this.viewport.hold(anchor, after);
    else if (!keep) this.viewport.open(this.nodes.get(this.selected ?? graph.node) ?? this.nodes.get(graph.node) ?? graph.nodes[0]);
    this.map.show(graph.nodes);
  }

  /**
   * Lights the paths through a node and dims the rest.
   * @param {string|null} id null, or a node that is not shown: everything is lit.
   * @returns {import("./paths.js").Lit|null}
   */
  light(id) {
    this.selected = id;
    const lit = this.nodes?.has(id) ? pathsThrough(this.graph, id) : null;
    this.canvas.classList.toggle("lighting", lit !== null);
    for (const [key, shape] of this.shapes) {
      shape.classList.toggle("lit", lit !== null && (lit.nodes.has(key) || lit.edges.has(key)));
      shape.classList.toggle("selected", key === id);
      if (shape.dataset.id) shape.setAttribute("aria-pressed", String(key === id));
    }
    if (lit) this.#tabStop(id);
    return lit;
  }

  /** Brings a node into view, if it is shown. @param {string} id */
  reveal(id) {
    const node = this.nodes?.get(id);
    if (node) this.viewport.reveal(node);
  }

  /** Gives a node the focus, by default the one that Tab leads to. @param {string} [id] */
  focus(id) {
    const shape = id ? this.shapes.get(id) : this.scene.querySelector('[tabindex="0"]');
    shape?.focus({ preventScroll: true });
    if (shape) this.reveal(shape.dataset.id);
  }

  #draw(states) {
    this.shapes = new Map();
    const layers = { input: [], output: [], field: [], job: [], dataset: [], column: [] };
    for (const edge of this.graph.edges) layers[edge.type].push(this.#keep(edge.id, drawEdge(edge)));
    for (const node of this.graph.nodes) {
      const shape = this.#keep(node.id, drawNode(node));
      if (node.id === this.graph.node) shape.classList.add("middle");
      if (states && (!states.has(node.id) || states.get(node.id) !== node.state)) shape.classList.add("fresh");
      layers[node.type].push(shape);
    }
    const focused = this.focusedId;
    this.scene.replaceChildren(...Object.values(layers).flat());
    if (focused) this.shapes.get(focused)?.focus({ preventScroll: true });
    this.#tabStop(this.selected ?? this.graph.node ?? this.graph.nodes[0]?.id);
  }

  #keep(id, shape) {
    this.shapes.set(id, shape);
    return shape;
  }

  /** Of all nodes Tab leads to one; arrows go on from there. */
  #tabStop(id) {
    this.scene.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    const shape = this.shapes.get(id) ?? this.scene.querySelector("[data-id]");
    shape?.setAttribute("tabindex", "0");
  }

  /** What must not move on a refresh: the selection, the middle, or the node nearest to the middle of the canvas. */
  #anchor() {
    const known = this.nodes?.get(this.selected) ?? this.nodes?.get(this.graph.node);
    if (known) return known;
    const { x, y, k, size } = this.viewport;
    const middle = { x: (size.width / 2 - x) / k, y: (size.height / 2 - y) / k };
    const far = (node) => Math.hypot(node.x - middle.x, node.y - middle.y);
    return this.graph.nodes.reduce((best, node) => (!best || far(node) < far(best) ? node : best), undefined);
  }

  #moved() {
    this.canvas.classList.toggle("far-off", this.viewport.k < FAR);
    this.canvas.classList.toggle("tiny", this.viewport.k < TINY);
    this.map?.look();
  }

  #click(event) {
    const opener = event.target.closest("[data-open]");
    const shape = event.target.closest("[data-id]");
    if (opener) this.handlers.toggle(opener.dataset.open);
    else this.handlers.select(shape ? shape.dataset.id : null);
  }

  #doubleClick(event) {
    const shape = event.target.closest("[data-id]");
    if (shape && !event.target.closest("[data-open]")) this.handlers.centre(shape.dataset.id);
  }

  #focused(target) {
    const shape = target.closest("[data-id]");
    if (!shape) return;
    this.#tabStop(shape.dataset.id);
    if (shape.matches(":focus-visible")) this.reveal(shape.dataset.id);
  }

  #key(event) {
    const id = event.target.closest("[data-id]")?.dataset.id;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.#action(event, id);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  #action(event, id) {
    const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 };
    const pans = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] };
    if (event.key in zooms) return () => this.viewport.zoom(zooms[event.key]);
    if (event.key === "0") return () => this.viewport.fit();
    if (event.key in pans && (event.shiftKey || !id)) return () => this.viewport.pan(...pans[event.key]);
    if (!id) return undefined;
    if (event.key in pans) return () => this.focus(neighbour(this.graph, id, event.key) ?? id);
    if (event.key === "Enter" && event.shiftKey) return () => this.handlers.centre(id);
    if (event.key === "Enter" || event.key === " ") return () => this.handlers.select(id);
    if (event.key === "c") return () => this.handlers.centre(id);
    const dataset = this.nodes.get(id)?.parent ?? id;
    if (event.key === "e" && this.nodes.get(dataset)?.columns) return () => this.handlers.toggle(dataset);
    return undefined;
  }

  /** The node that has the focus. @returns {string|undefined} */
  get focusedId() {
    return this.canvas.contains(document.activeElement) ? document.activeElement.dataset.id : undefined;
  }
}

function arrow() {
  const marker = svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" },
    svg("path", { d: "M0.5 0.8 7 4 0.5 7.2z" }));
  return svg("defs", {}, marker);
}
