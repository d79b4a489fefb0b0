// Wires the page: the address says what is shown, everything else follows from it.

import { PLAIN, readAddress, writeAddress } from "./address.js";
import { get, hasToken, keepToken, liveAddress, takeTokenFromAddress } from "./api.js";
import { say } from "./copy.js";
import { askToken, emptyStore, failure, unknownNode } from "./covers.js";
import { byId } from "./dom.js";
import { Drawer } from "./drawer.js";
import { GraphView } from "./graph-view.js";
import { startHelp } from "./help.js";
import { showLegend } from "./legend.js";
import { follow } from "./live.js";
import { Refresher } from "./refresher.js";
import { Search } from "./search.js";
import { Side } from "./side.js";
import { startTheme } from "./theme.js";
import { showTools, zoomTools } from "./tools.js";

const GRAPH_PARTS = ["node", "depth", "direction", "granularity", "columns", "limit"];

class Page {
  constructor() {
    takeTokenFromAddress();
    this.view = readAddress(location.hash);
    this.graph = null;
    this.asked = null;
    this.stats = null;
    this.graphView = new GraphView(byId("canvas"), byId("corner"), byId("tools"), {
      select: (id) => this.change({ select: id, run: null, event: null, tab: null }),
      centre: (id) => this.centre(id),
      toggle: (id) => this.toggle(id),
    });
    zoomTools(byId("corner"), this.graphView.viewport);
    this.legend = showLegend(byId("legend"));
    this.drawer = new Drawer(byId("drawer"), get, { change: (patch) => this.change(patch), close: () => this.closeDrawer() });
    this.side = new Side(byId("side"), get, {
      node: (id) => this.open(id),
      run: (run) => this.open(run.job, { run: run.run_id }),
      event: (event) => this.change({ event: event.event_id, select: event.job ?? this.view.select, run: null, tab: null }),
    });
    this.search = new Search(byId("search"), (text) => get("search", { q: text, limit: 20 }), (result) => this.found(result));
    this.refresher = new Refresher(() => this.refresh());
    startTheme(byId("theme"), () => this.graph && this.graphView.map.show(this.graph.nodes));
    this.help = startHelp(byId("help"));
    this.#listen();
  }

  /** Changes what is shown, and the address with it. */
  change(patch) {
    const before = this.view;
    this.view = { ...before, ...patch };
    const address = writeAddress(this.view);
    const step = address === writeAddress(before) || ("tab" in patch && Object.keys(patch).length === 1) ? "replaceState" : "pushState";
    history[step](null, "", address);
    return this.render();
  }

  /** Shows what the view says; reads the graph only where it differs from the one shown. */
  async render({ again = false } = {}) {
    this.drawer.reserve(this.view);
    const wanted = JSON.stringify(GRAPH_PARTS.map((part) => this.view[part]));
    if (again || wanted !== this.asked) await this.#readGraph(wanted);
    this.legend(this.graph);
    const lit = this.graphView.light(this.view.select);
    showTools(byId("tools"), this.view, this.graph, (patch) => this.change(patch));
    await this.drawer.show(this.view, { lit, graph: this.graph });
    if (this.view.select && !again) this.graphView.reveal(this.view.select);
  }

  /** Reads everything again and leaves the reader where they are. */
  async refresh() {
    await this.#guard(async () => {
      this.stats = await this.side.refresh(this.view);
      await this.render({ again: true });
    });
  }

  /** Puts a node in the middle. */
  centre(id) {
    return this.change({ node: id, granularity: id.startsWith("column:") ? "column" : "table", select: id, run: null, event: null, tab: null });
  }

  /** Opens the drawer of a node; goes there if it is not in the graph. */
  open(id, patch = {}) {
    const here = this.graph?.nodes.some((node) => node.id === id);
    const move = here ? {} : { node: id, granularity: id.startsWith("column:") ? "column" : "table" };
    return this.change({ ...move, select: id, run: null, event: null, tab: null, ...patch });
  }

  /** Opens or closes a dataset's columns. */
  async toggle(id) {
    const focused = this.graphView.focusedId;
    const every = this.graph.nodes.filter((node) => node.expanded).map((node) => node.id);
    const open = this.view.columns.includes("*") ? every : this.view.columns;
    await this.change({ columns: open.includes(id) ? open.filter((one) => one !== id) : [...open, id] });
    if (focused) this.graphView.focus(this.graphView.nodes.has(focused) ? focused : id);
  }

  /** Goes to a search result. */
  found(result) {
    const column = result.type === "column";
    return this.change({ node: result.id, granularity: column ? "column" : "table", select: result.id, run: result.run_id ?? null, event: null, tab: null })
      .then(() => this.graphView.focus(result.id));
  }

  closeDrawer() {
    const id = this.view.select;
    this.change({ select: null, run: null, event: null, tab: null });
    if (id && this.graphView.shapes.has(id)) this.graphView.focus(id);
  }

  async #readGraph(wanted) {
    const { node, depth, direction, granularity, columns, limit } = this.view;
    const query = { node, limit, layout: true, ...(granularity === "table" ? { expand: columns } : {}), ...(node ? { depth, direction, granularity } : {}) };
    const same = wanted === this.asked;
    const keep = this.graph?.nodes.length > 0 && this.graph.node === node && this.graph.depth === depth;
    const slow = setTimeout(() => { byId("progress").hidden = false; }, 200);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      const graph = await get("graph", query);
      if (turn === this.turn) this.#show(graph, wanted, { keep, news: keep && same });
    } catch (error) {
      if (turn === this.turn) this.#failed(error, wanted);
    } finally {
      clearTimeout(slow);
      byId("progress").hidden = true;
    }
  }

  #show(graph, wanted, how) {
    const text = JSON.stringify(graph);
    this.asked = wanted;
    this.#cover(graph.nodes.length ? null : emptyStore(location.origin, hasToken()));
    if (text === this.text) return;
    this.text = text;
    this.graph = { ...graph, node: this.view.node };
    this.graphView.selected = this.view.select;
    showTools(byId("tools"), this.view, this.graph, (patch) => this.change(patch));
    this.graphView.show(this.graph, how);
    document.title = `${graph.nodes.find((one) => one.id === this.view.node)?.label ?? "Lineage"} · truewatch-lineage receiver`;
  }

  #failed(error, wanted) {
    this.asked = wanted;
    if (error.status === 401) return this.#askToken();
    if (error.status === 0) return this.#gone(true);
    const home = () => this.change({ ...PLAIN });
    this.graph = null;
    this.text = null;
    return this.#cover(error.code === "receiver.unknownNode" ? unknownNode(this.view.node, home) : failure(error.message, () => this.render({ again: true })));
  }

  #askToken() {
    this.#cover(askToken(hasToken(), (token) => {
      keepToken(token);
      this.refresh();
    }));
    byId("cover").querySelector("input").focus();
  }

  #cover(panel) {
    byId("cover").replaceChildren(...(panel ? [panel] : []));
    byId("cover").hidden = panel === null;
    byId("stage").classList.toggle("covered", panel !== null);
  }

  #gone(gone) {
    const notice = byId("notice");
    notice.hidden = !gone;
    notice.textContent = gone ? "The receiver does not answer; it may have been stopped. What you see may be old. Trying again every 2 seconds." : "";
    byId("live").dataset.state = gone ? "gone" : "on";
    byId("live-text").textContent = gone ? "not connected" : "live";
  }

  async #guard(act) {
    try {
      await act();
    } catch (error) {
      if (error.status === 401) this.#askToken();
      else if (error.status === 0) this.#gone(true);
      else say(error.message);
    }
  }

  #follow() {
    follow(liveAddress, {
      hello: (again) => {
        this.#gone(false);
        if (again || !this.graph) this.refresher.ask();
      },
      changed: (change) => {
        byId("live").classList.remove("beat");
        requestAnimationFrame(() => byId("live").classList.add("beat"));
        byId("live-text").textContent = `live · ${change.count === 1 ? "1 new event" : `${change.count} new events`}`;
        this.refresher.ask();
      },
      cleared: () => this.refresher.ask(),
      refused: (refusal) => say(`${refusal.destination} refused an event: ${refusal.reason_code}`),
      lost: () => this.#gone(true),
    });
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

  /** Shows the first picture, then follows. */
  async start() {
    await Promise.all([this.render(), this.#guard(async () => { this.stats = await this.side.refresh(this.view); })]);
    document.documentElement.dataset.ready = "true";
    this.#follow();
  }
}

new Page().start();
