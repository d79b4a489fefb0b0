// The stage: reads the graph that a view asks for and draws it, or says in its place why there is none.

import { get, hasToken, keepToken } from "./api.js";
import { askToken, emptyStore, failure, unknownNode } from "./covers.js";
import { byId } from "./dom.js";

const PARTS = ["node", "depth", "direction", "granularity", "columns", "limit"];
const SLOW = 200;

/**
 * @typedef {Object} StageHandlers
 * @property {function(Object): void} read A graph was read and is about to be drawn.
 * @property {function(): void} home
 * @property {function(): void} again Everything is to be read again.
 * @property {function(): void} gone The receiver does not answer.
 */

/** The graph that is shown, and how it came. */
export class Stage {
  /** @param {import("./graph-view.js").GraphView} graphView @param {StageHandlers} handlers */
  constructor(graphView, handlers) {
    this.graphView = graphView;
    this.handlers = handlers;
    /** What is shown: an answer of `/api/graph`, or null. */
    this.graph = null;
    this.wanted = null;
    this.text = null;
    this.turn = 0;
  }

  /**
   * Shows the graph of a view; asks for it only if the view wants another, or again.
   * @param {import("./address.js").View} view
   * @param {boolean} again
   */
  async show(view, again) {
    const wanted = JSON.stringify(PARTS.map((part) => view[part]));
    const same = wanted === this.wanted;
    if (same && !again) return;
    const turn = (this.turn += 1);
    const slow = setTimeout(() => { byId("progress").hidden = false; }, SLOW);
    try {
      const graph = await get("graph", query(view));
      if (turn === this.turn) this.#draw(graph, view, same);
    } catch (error) {
      if (turn === this.turn) this.failed(error, view);
    } finally {
      clearTimeout(slow);
      byId("progress").hidden = true;
    }
    if (turn === this.turn) this.wanted = wanted;
  }

  /** Says what went wrong, where it takes the graph's place. @param {import("./api.js").ApiError} error */
  failed(error, view) {
    if (error.status === 0) return this.handlers.gone();
    if (error.status === 401) return this.#askToken();
    this.graph = null;
    this.text = null;
    const { home, again } = this.handlers;
    return this.#cover(error.code === "receiver.unknownNode" ? unknownNode(view.node, home) : failure(error.message, again));
  }

  #draw(graph, view, same) {
    this.#cover(graph.nodes.length ? null : emptyStore(location.origin, hasToken()));
    const text = JSON.stringify(graph);
    if (text === this.text) return;
    const before = this.graph;
    const keep = before?.nodes.length > 0 && before.node === graph.node && before.depth === graph.depth;
    this.text = text;
    this.graph = graph;
    this.handlers.read(graph);
    this.graphView.selected = view.select;
    this.graphView.show(graph, { keep, news: keep && same });
  }

  #askToken() {
    this.#cover(askToken(hasToken(), (token) => {
      keepToken(token);
      this.handlers.again();
    }));
    byId("cover").querySelector("input").focus();
  }

  #cover(panel) {
    byId("cover").replaceChildren(...(panel ? [panel] : []));
    byId("cover").hidden = panel === null;
    byId("stage").classList.toggle("covered", panel !== null);
  }
}

function query({ node, depth, direction, granularity, columns, limit }) {
  const around = node ? { node, depth, direction, granularity } : {};
  return { ...around, limit, layout: true, expand: granularity === "table" ? columns : [] };
}
