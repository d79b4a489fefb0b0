// The drawer of a job, a dataset or a column.

import { button, el } from "./dom.js";
import { copyButton } from "./copy.js";
import { icon, stateBadge } from "./icons.js";
import { jsonText, jsonTree } from "./json-view.js";
import { eventRow, facts, nothing, row, section, stateChip } from "./parts.js";
import { counted, cut, duration, when } from "./text.js";

const CODE = ["sourceCode", "query"];

/**
 * Reads a node.
 * @param {function(string, Object=): Promise<Object>} get
 * @param {import("./address.js").View} view
 * @param {function(Object): void} change
 * @param {{lit: import("./paths.js").Lit|null, graph: Object|null}} context
 * @returns {Promise<import("./drawer.js").Panel>}
 */
export async function nodePanel(get, view, change, context) {
  const details = await get("node", { node: view.select });
  const { node } = details;
  return {
    kind: node.job_type && node.type === "job" ? `Job, ${node.job_type.toLowerCase()}` : { job: "Job", dataset: "Dataset", column: "Column" }[node.type],
    title: cut(node.type === "column" ? node.field : node.name, 120),
    full: node.type === "column" ? `${node.namespace}/${node.name}: ${node.field}` : `${node.namespace}/${node.name}`,
    mark: node.type === "job" ? stateBadge(node.state) : icon(node.type, "kind-icon"),
    actions: actions(node, view, change),
    tabs: tabs(details, view, change, context),
  };
}

/**
 * A list of runs.
 * @param {Object[]} runs
 * @param {import("./address.js").View} view
 * @param {function(Object): void} change
 */
function runRows(runs, view, change) {
  return el("div", { class: "rows" }, runs.map((run) => row({
    key: `run ${run.run_id}`, mark: stateBadge(run.state), title: run.run_id, full: run.error_message ?? run.run_id,
    note: [run.open ? "open" : duration(run.duration_s), counted(run.events, "event"), run.error_message ? cut(run.error_message, 60) : ""].filter(Boolean).join(" · "),
    side: when(run.started_at ?? run.first_event_at), current: run.run_id === view.run,
  }, () => change({ select: run.job, run: run.run_id, event: null, tab: null }))));
}

/** Facets, each foldable; code is shown as code. @param {Object<string, Object>} facets */
export function facetList(facets) {
  const names = Object.keys(facets).sort();
  if (!names.length) return nothing("No facet came with it.");
  return el("div", {}, names.map((name) => el("details", { class: "fold-part", open: true, data: { key: `facet ${name}` } },
    el("summary", {}, icon("chevron"), el("span", { class: "mono" }, name), copyButton(() => jsonText(facets[name]), `the facet ${name}`)),
    facet(facets[name]))));
}

function facet(value) {
  const rest = { ...value };
  const code = CODE.filter((key) => typeof value?.[key] === "string").map((key) => {
    delete rest[key];
    return el("pre", { class: "code", tabindex: 0, "aria-label": key }, value[key]);
  });
  return el("div", { class: "fold-body" }, code, jsonTree(code.length ? rest : value, 2));
}

function actions(node, view, change) {
  const column = node.type === "column";
  const centre = view.node !== node.id && button({ class: "button main", data: { key: "centre" } },
    () => change({ node: node.id, granularity: column ? "column" : "table" }), icon("target"), column ? "Trace this column" : "Centre the graph here");
  const id = copyButton(node.id, "the node id", "Node id");
  return [centre, copyButton(column ? node.field : node.name, "the name", "Name"), id].filter(Boolean);
}

function tabs(details, view, change, context) {
  const { node, columns, runs, events, facets } = details;
  const openEvent = (event) => change({ event: event.event_id, tab: null });
  const eventsTab = {
    id: "events", name: "Events", count: events.length,
    build: () => [events.length ? el("div", { class: "rows" }, events.map((event) => eventRow(event, false, openEvent))) : nothing("None.")],
  };
  const facetsTab = { id: "facets", name: "Facets", count: Object.keys(facets).length, build: () => [facetList(facets)] };
  const about = { id: "about", name: "About", build: () => overview(node, runs, change, context) };
  if (node.type === "job") return [about, runsTab(node, runs, view, change), eventsTab, facetsTab];
  if (node.type === "dataset") return [about, columnsTab(node, columns, view, change), eventsTab, facetsTab];
  return [about, eventsTab];
}

function runsTab(node, runs, view, change) {
  const more = node.runs > runs.length ? nothing(`The latest ${runs.length} of ${node.runs}.`) : null;
  return { id: "runs", name: "Runs", count: node.runs, build: () => [runs.length ? runRows(runs, view, change) : nothing("It has not run."), more].filter(Boolean) };
}

function columnsTab(node, columns, view, change) {
  const open = view.columns.includes("*") ? view.columns : [...new Set([...view.columns, node.id])];
  const body = () => columns.map((column) => el("tr", {},
    el("td", {}, button({ class: "link mono", data: { key: `column ${column.id}` } }, () => change({ select: column.id, columns: open, tab: null }), column.name)),
    el("td", { class: "mono quiet" }, column.type ?? ""), el("td", {}, column.description ?? "")));
  const table = () => el("table", { class: "table" }, el("thead", {}, el("tr", {}, ["Column", "Type", "Description"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, body()));
  return { id: "columns", name: "Columns", count: columns.length, build: () => [columns.length ? table() : nothing(node.columns_reason ?? "No column is known.")] };
}

function overview(node, runs, change, { lit, graph }) {
  const noun = node.type === "column" ? "column" : "node";
  const paths = lit && section("In this graph", el("p", {}, `${counted(lit.upstream, noun)} upstream, ${counted(lit.downstream, noun)} downstream.`));
  const names = section("Names", facts([
    ["Namespace", node.namespace, "the namespace"],
    [node.type === "job" ? "Job" : "Dataset", node.name, "the name"],
    ["Column", node.field, "the column"],
    ["Type", node.data_type],
    ["Columns", node.type === "dataset" ? node.columns || node.columns_reason : null],
    [node.type === "job" ? "job_id" : "dataset_id", node.job_id ?? node.dataset_id, node.job_id ? "job_id" : "dataset_id"],
  ]));
  const ends = node.type === "column" && graph ? [derived("Comes from", node, "target", "source", graph, change), derived("Goes into", node, "source", "target", graph, change)] : [];
  return [node.type === "job" ? latest(node, runs) : null, names, ...ends, paths].filter(Boolean);
}

/** The columns next to a column in the graph, and how one is made of the other. */
function derived(title, node, here, there, graph, change) {
  const others = new Map(graph.nodes.map((one) => [one.id, one]));
  const edges = graph.edges.filter((edge) => edge.type === "field" && edge[here] === node.id);
  if (!edges.length) return null;
  return section(title, el("div", { class: "rows" }, edges.map((edge) => {
    const other = others.get(edge[there]);
    const how = edge.transformations.map(({ type, subtype, masking }) => [type, subtype, masking ? "masking" : ""].filter(Boolean).join(" ").toLowerCase());
    return row({
      key: edge.id, mark: icon(other.type, "kind-icon"), title: other.field ?? other.label, full: `${other.namespace}/${other.name}`,
      note: [other.field ? cut(other.name, 48) : "every column", ...new Set(how)].join(" · "),
    }, () => change({ select: other.id, tab: null }));
  })));
}

function latest(node, runs) {
  const run = runs[0];
  if (!run) return section("Latest run", nothing("It has not run; only events without a run named it."));
  return section("Latest run", facts([
    ["State", stateChip(run.state)],
    ["Run", run.run_id, "the run id"],
    ["Started", when(run.started_at)],
    ["Took", run.open ? "still open" : duration(run.duration_s)],
    ["Parent", run.parent ? `${run.parent.job_namespace}/${run.parent.job_name}` : null],
    ["Error", run.error_message],
    ["Integration", node.integration],
  ]));
}
