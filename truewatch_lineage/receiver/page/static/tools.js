// The controls above the graph: what is in the middle, how deep, which way, tables or columns.

import { button, el, refill } from "./dom.js";
import { DIRECTIONS, MAX_DEPTH } from "./address.js";
import { copyButton } from "./copy.js";
import { icon } from "./icons.js";
import { counted, cut } from "./text.js";

// The receiver lays out no more.
const MOST = 1000;
const WAYS = { upstream: ["left", "Upstream only"], both: ["both", "Upstream and downstream"], downstream: ["right", "Downstream only"] };

/**
 * Shows the controls for a view.
 * @param {HTMLElement} host
 * @param {import("./address.js").View} view
 * @param {Object|null} graph What is shown.
 * @param {function(Partial<import("./address.js").View>): void} change
 */
export function showTools(host, view, graph, change) {
  const middle = graph?.nodes.find((node) => node.id === view.node);
  const parts = [subject(view, middle, change), ...(view.node ? [depth(view, change), direction(view, change), granularity(view, change)] : []),
    view.granularity === "table" ? allColumns(view, graph, change) : null, rest(graph, view, change)];
  refill(host, ...parts.filter(Boolean));
}

/** The zoom controls. @param {HTMLElement} host @param {import("./viewport.js").Viewport} viewport */
export function zoomTools(host, viewport) {
  const one = (name, label, act) => button({ class: "icon-button", "aria-label": label, title: label }, act, icon(name));
  host.append(el("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
    one("plus", "Zoom in (+)", () => viewport.zoom(1.25)),
    one("minus", "Zoom out (−)", () => viewport.zoom(0.8)),
    one("fit", "Show the whole graph (0)", () => viewport.fit())));
}

function subject(view, middle, change) {
  if (!view.node) return el("div", { class: "group subject" }, el("strong", {}, "Everything that is stored"));
  const name = middle ? (middle.type === "column" ? `${middle.label}` : middle.label) : view.node;
  const kind = middle?.type ?? view.node.split(":", 1)[0];
  return el("div", { class: "group subject" },
    button({ class: "icon-button", "aria-label": "Back to everything", title: "Back to everything", data: { key: "all" } }, () => change({ node: null, granularity: "table" }), icon("left")),
    icon(kind in { job: 1, dataset: 1, column: 1 } ? kind : "target", "kind-icon"),
    el("strong", { title: middle ? `${middle.namespace}/${middle.name}` : view.node }, cut(name, 34)),
    copyButton(() => location.href, "the address of this view"));
}

function depth(view, change) {
  const step = (label, sign, to, possible) => button({
    class: "icon-button", "aria-label": label, title: label, disabled: !possible, data: { key: label },
  }, () => change({ depth: to }), icon(sign));
  return el("div", { class: "group", role: "group", "aria-label": "Depth" },
    el("span", { class: "caption" }, "Depth"),
    step("Less deep", "minus", view.depth - 1, view.depth > 0),
    el("output", { class: "figure", "aria-live": "polite" }, String(view.depth)),
    step("Deeper", "plus", view.depth + 1, view.depth < MAX_DEPTH));
}

function direction(view, change) {
  return el("div", { class: "group segments", role: "group", "aria-label": "Direction" }, DIRECTIONS.map((way) => button({
    class: "segment", "aria-pressed": String(view.direction === way), "aria-label": WAYS[way][1], title: WAYS[way][1], data: { key: way },
  }, () => change({ direction: way }), icon(WAYS[way][0]), el("span", { class: "word" }, { upstream: "Up", both: "Both", downstream: "Down" }[way]))));
}

function granularity(view, change) {
  const one = (value, word, hint) => button({
    class: "segment", "aria-pressed": String(view.granularity === value), title: hint, data: { key: value }, disabled: value === "table" && view.node.startsWith("column:"),
  }, () => change({ granularity: value }), word);
  return el("div", { class: "group segments", role: "group", "aria-label": "Level" },
    one("table", "Tables", "Jobs and datasets"), one("column", "Columns", "Columns and how they derive from each other"));
}

function allColumns(view, graph, change) {
  if (!graph?.nodes.some((node) => node.type === "dataset" && node.columns)) return null;
  const open = view.columns.length > 0;
  return button({ class: "group button", title: "Open or close the columns of all datasets shown", data: { key: "open columns" } },
    () => change({ columns: open ? [] : ["*"] }), icon("column"), open ? "Close columns" : "Open columns");
}

function rest(graph, view, change) {
  if (!graph?.truncated) return null;
  const nodes = graph.nodes.filter((node) => node.type !== "column").length;
  return el("div", { class: "group" }, el("span", { class: "caption" }, `The ${view.node ? "nearest" : "newest"} ${counted(nodes, "node")}`),
    view.limit < MOST && button({ class: "link", data: { key: "more" } }, () => change({ limit: MOST }), "Show more"));
}
