// Wires the page: the address says what is shown, everything else follows from it.

import { jobId, PLAIN, readAddress, writeAddress } from "./address.js";
import { get, liveAddress, takeTokenFromAddress } from "./api.js";
import { beat, connected, gone } from "./connection.js";
import { say } from "./copy.js";
import { byId } from "./dom.js";
import { Drawer } from "./drawer.js";
import { GraphView } from "./graph-view.js";
import { startHelp } from "./help.js";
import { showLegend } from "./legend.js";
import { follow } from "./live.js";
import { Refresher } from "./refresher.js";
import { Search } from "./search.js";
import { Side } from "./side.js";
import { Stage } from "./stage.js";
import { startTheme } from "./theme.js";
import { showTools, zoomTools } from "./tools.js";

const NO_DETAILS = { select: null, run: null, event: null, tab: null };

class Page {
  constructor() {
    takeTokenFromAddress();
    this.view = readAddress(location.hash);
    this.graphView = new GraphView(byId("canvas"), byId("corner"), byId("tools"), {
      select: (id) => this.change({ ...NO_DETAILS, select: id }),
      centre: (id) => this.change({ ...NO_DETAILS, ...around(id), select: id }),
      toggle: (id) => this.toggle(id),
    });
    this.stage = new Stage(this.graphView, {
      read: (graph) => this.#tools(graph),
      home: () => this.change({ ...PLAIN }),
      again: () => this.refresh(),
      gone,
    });
    this.drawer = new Drawer(byId("drawer"), get, { change: (patch) => this.change(patch), close: () => this.closeDrawer() });
    this.side = new Side(byId("side"), get, {
      node: (id) => this.open(id),
      run: (run) => this.open(run.job, { run: run.run_id }),
      event: (event) => this.change({ ...NO_DETAILS, event: event.event_id, select: jobId(event.job_namespace, event.job_name) }),
    });
    this.search = new Search(byId("search"), (text) => get("search", { q: text, limit: 20 }), (result) => this.found(result));
    this.refresher = new Refresher(() => this.refresh());
    this.legend = showLegend(byId("legend"));
    this.help = startHelp(byId("help"));
    zoomTools(byId("corner"), this.graphView.viewport);
    startTheme(byId("theme"), () => this.stage.graph && this.graphView.map.show(this.stage.graph.nodes));
    this.#listen();
  }

  /** Changes what is shown, and the address with it; another tab of the drawer is no step of its own. */
  change(patch) {
    const before = writeAddress(this.view);
    this.view = { ...this.view, ...patch };
    const address = writeAddress(this.view);
    const step = address === before || Object.keys(patch).join() === "tab" ? "replaceState" : "pushState";
    history[step](null, "", address);
    return this.render();
  }

  /** Shows what the view says; `again` reads what is shown already, and leaves the reader where they are. */
  async render({ again = false } = {}) {
    this.drawer.reserve(this.view);
    await this.stage.show(this.view, again);
    const { graph } = this.stage;
    const lit = this.graphView.light(this.view.select);
    this.#tools(graph);
    this.legend(graph);
    await this.drawer.show(this.view, { lit, graph });
    if (this.view.select && !again) this.graphView.reveal(this.view.select);
  }

  /** Reads everything again. */
  async refresh() {
    await Promise.all([this.#lists(), this.render({ again: true })]);
  }

  /** Opens the drawer of a node; goes there if it is not in the graph. */
  open(id, patch = {}) {
    const here = this.stage.graph?.nodes.some((node) => node.id === id);
    return this.change({ ...NO_DETAILS, ...(here ? {} : around(id)), select: id, ...patch });
  }

  /** Opens or closes a dataset's columns. */
  async toggle(id) {
    const focused = this.graphView.focusedId;
    const every = this.stage.graph.nodes.filter((node) => node.expanded).map((node) => node.id);
    const open = this.view.columns.includes("*") ? every : this.view.columns;
    await this.change({ columns: open.includes(id) ? open.filter((one) => one !== id) : [...open, id] });
    if (focused) this.graphView.focus(this.graphView.nodes.has(focused) ? focused : id);
  }

  /** Goes to a search result. */
  async found(result) {
    await this.change({ ...NO_DETAILS, ...around(result.id), select: result.id, run: result.run_id });
    this.graphView.focus(result.id);
  }

  /** Closes the drawer; the node that it was of gets the focus. */
  async closeDrawer() {
    const id = this.view.select;
    await this.change(NO_DETAILS);
    if (id && this.graphView.shapes.has(id)) this.graphView.focus(id);
  }

  /** Shows the first picture, then follows. */
  async start() {
    await Promise.all([this.render(), this.#lists()]);
    document.documentElement.dataset.ready = "true";
    follow(liveAddress, {
      hello: ({ seq }) => {
        connected();
        if (!this.stage.graph || seq !== this.side.newest) this.refresher.ask();
      },
      changed: ({ count }) => {
        beat(count);
        this.refresher.ask();
      },
      cleared: () => this.refresher.ask(),
      refused: (refusal) => say(`${refusal.destination} refused an event: ${refusal.reason_code}`),
      lost: gone,
    });
  }

  #tools(graph) {
    showTools(byId("tools"), this.view, graph, (patch) => this.change(patch));
    const middle = graph?.nodes.find((node) => node.id === this.view.node);
    document.title = `${middle?.label ?? "Lineage"} · truewatch-lineage receiver`;
  }

  async #lists() {
    try {
      await this.side.refresh(this.view);
    } catch (error) {
      this.stage.failed(error, this.view);
    }
  }

  #listen() {
    addEventListener("popstate", () => {
      this.view = readAddress(location.hash);
      this.render();
    });
    byId("home").addEventListener("click", () => this.change({ ...PLAIN }));
    byId("help-open").addEventListener("click", this.help);
    byId("skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.graphView.focus();
    });
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const typing = event.target.closest("input, textarea");
    const acts = { "/": () => this.search.focus(), "?": () => this.help(), g: () => this.graphView.focus(), Escape: () => this.#escape() };
    if (!acts[event.key] || (typing && event.key !== "Escape")) return;
    event.preventDefault();
    acts[event.key]();
  }

  #escape() {
    if (this.view.event && this.view.select) this.change({ event: null, tab: null });
    else if (this.view.select || this.view.event) this.closeDrawer();
  }
}

/** The part of a view that puts a node in the middle. */
function around(id) {
  return { node: id, granularity: id.startsWith("column:") ? "column" : "table" };
}

new Page().start();
