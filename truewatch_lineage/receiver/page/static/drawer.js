// The drawer: the details of a node, a run or an event, with tabs.

import { button, el, find, refill } from "./dom.js";
import { icon } from "./icons.js";
import { eventPanel } from "./event-panel.js";
import { nodePanel } from "./node-panel.js";
import { runPanel } from "./run-panel.js";
import { nothing } from "./parts.js";

/**
 * @typedef {Object} Panel
 * @property {string} kind Written above the title.
 * @property {string} title
 * @property {string} full The whole name.
 * @property {Node|null} mark
 * @property {Node[]} actions
 * @property {Array<{id: string, name: string, count?: number, build: function(): Array<Node>}>} tabs
 */

const SUBJECTS = { event: "Event", run: "Run", node: "Job, dataset or column" };

/** The drawer. */
export class Drawer {
  /**
   * @param {HTMLElement} host
   * @param {function(string, Object=): Promise<Object>} get
   * @param {{change: function(Object): void, close: function(): void}} handlers
   */
  constructor(host, get, handlers) {
    this.host = host;
    this.get = get;
    this.handlers = handlers;
    this.shown = "";
    this.told = "";
    this.turn = 0;
  }

  /** Takes the room that a view's details need, before they are read, so that the graph is fitted into what is left. */
  reserve(view) {
    this.host.hidden = !(view.event || view.select);
    this.host.classList.toggle("wide", Boolean(view.event));
  }

  /**
   * Shows what a view selects, or hides.
   * @param {import("./address.js").View} view
   * @param {{lit: import("./paths.js").Lit|null, graph: Object|null}} context The graph, and the paths through the selection.
   * @returns {Promise<void>}
   */
  async show(view, context) {
    const subject = view.event ? "event" : view.run && view.select ? "run" : view.select ? "node" : null;
    const turn = (this.turn += 1);
    this.reserve(view);
    if (!subject) {
      this.shown = "";
      return;
    }
    const key = JSON.stringify([subject, view.event, view.run, view.select]);
    if (key !== this.shown) this.host.classList.add("waiting");
    const { panel, answers } = await this.#read(subject, view, context);
    if (turn !== this.turn) return;
    this.host.classList.remove("waiting");
    // What is unchanged is left alone: its folds, its scroll position, a text that is being marked.
    const told = JSON.stringify([key, view.tab, view.node, answers, context.lit?.upstream, context.lit?.downstream, context.graph?.edges.length]);
    if (told === this.told && this.host.hasChildNodes()) return;
    this.told = told;
    this.#fill(panel, view, key === this.shown);
    this.shown = key;
  }

  async #read(subject, view, context) {
    const read = { event: eventPanel, run: runPanel, node: nodePanel }[subject];
    const answers = [];
    const get = async (...question) => {
      const answer = await this.get(...question);
      answers.push(answer);
      return answer;
    };
    try {
      return { panel: await read(get, view, this.handlers.change, context), answers };
    } catch (error) {
      const text = error.status === 0 ? "The receiver does not answer." : error.message;
      const tabs = [{ id: "none", name: "", build: () => [nothing(text)] }];
      return { panel: { kind: SUBJECTS[subject], title: "This can’t be shown", full: "", mark: null, actions: [], tabs }, answers: [text] };
    }
  }

  #fill(panel, view, same) {
    const tab = panel.tabs.find((one) => one.id === view.tab) ?? panel.tabs[0];
    const body = el("div", { id: "drawer-body", class: "drawer-body", role: "tabpanel", "aria-label": tab.name || "Details", tabindex: 0, data: { key: "body" } }, tab.build());
    const top = same ? this.host.querySelector(".drawer-body")?.scrollTop : 0;
    const folds = same ? foldsOf(this.host) : [];
    refill(this.host, this.#head(panel), ...(panel.tabs.length > 1 ? [this.#tabs(panel, tab)] : []), body);
    for (const [key, open] of folds) find(this.host, key)?.toggleAttribute("open", open);
    body.scrollTop = top ?? 0;
  }

  #head(panel) {
    const close = button({ class: "icon-button", "aria-label": "Close details", title: "Close (Esc)", data: { key: "close" } }, this.handlers.close, icon("close"));
    return el("header", { class: "drawer-head" },
      el("div", { class: "drawer-line" }, panel.mark, el("span", { class: "kind-word" }, panel.kind), close),
      el("h2", { title: panel.full }, panel.title),
      panel.actions.length > 0 && el("div", { class: "actions" }, panel.actions));
  }

  #tabs(panel, current) {
    const choose = (tab) => this.handlers.change({ tab: tab.id });
    const tabs = panel.tabs.map((tab) => button({
      role: "tab", class: "tab", "aria-selected": String(tab === current), "aria-controls": "drawer-body", tabindex: tab === current ? 0 : -1, data: { key: `tab ${tab.id}` },
    }, () => choose(tab), tab.name, tab.count !== undefined && el("span", { class: "count" }, String(tab.count))));
    const turn = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const at = (panel.tabs.indexOf(current) + step + tabs.length) % tabs.length;
      tabs[at].focus();
      choose(panel.tabs[at]);
    };
    return el("div", { class: "tabs", role: "tablist", on: { keydown: turn } }, tabs);
  }
}

/** Which folds are open and which closed, so that a refresh leaves them so. */
function foldsOf(host) {
  return [...host.querySelectorAll("details[data-key]")].map((details) => [details.dataset.key, details.open]);
}
