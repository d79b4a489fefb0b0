// The drawer of an event: its JSON beside the records TrueWatch makes of it, and what each destination would say.

import { button, el } from "./dom.js";
import { valueText } from "./api.js";
import { copyButton } from "./copy.js";
import { icon, stateBadge } from "./icons.js";
import { jsonText, jsonTree } from "./json-view.js";
import { facetList } from "./node-panel.js";
import { facts, nothing, section } from "./parts.js";
import { counted, cut, size, when } from "./text.js";

const NAMES = { dataway: "TrueWatch DataWay", datakit: "DataKit", portal: "Spotify Portal", openlineage: "OpenLineage receiver" };

/**
 * Reads an event; the arguments are as for `nodePanel`.
 * @returns {Promise<import("./drawer.js").Panel>}
 */
export async function eventPanel(get, view, change) {
  const event = await get(`events/${encodeURIComponent(view.event)}`);
  return {
    kind: `${event.kind}${event.event_type ? `, ${event.event_type}` : ""}`,
    title: cut(event.job_name ?? event.dataset_name ?? event.event_id, 120),
    full: event.event_id,
    mark: event.event_type ? stateBadge(event.event_type) : icon("event", "kind-icon"),
    actions: actions(event, view, change),
    tabs: [
      { id: "event", name: "Event and records", build: () => [verdicts(event), beside(event)] },
      { id: "facets", name: "Facets", build: () => facetParts(event.event) },
      { id: "arrivals", name: "Arrivals", count: event.arrivals.length, build: () => [arrivals(event)] },
    ],
  };
}

function actions(event, view, change) {
  const back = view.select && button({ class: "button", data: { key: "back" } }, () => change({ event: null, tab: null }), icon("left"), view.run ? "Run" : "Back");
  return [back,
    copyButton(event.event_id, "the event id", "Event id"),
    event.run_id && copyButton(event.run_id, "the run id", "Run id"),
    copyButton(() => jsonText(event.event), "the event", "JSON")].filter(Boolean);
}

/** One card a destination. */
function verdicts(event) {
  const cards = Object.entries(event.verdicts).map(([name, verdict]) => el("li", { class: `verdict ${verdict.accepted ? "yes" : "no"}` },
    el("div", { class: "verdict-head" }, icon(verdict.accepted ? "state_complete" : "state_fail", `badge state-${verdict.accepted ? "complete" : "fail"}`),
      el("strong", {}, NAMES[name] ?? name), el("span", { class: "quiet" }, verdict.accepted ? "would take it" : "would refuse it")),
    made(verdict),
    findings(verdict.problems, "problem"), findings(verdict.warnings, "warning")));
  return section("Destinations", el("ul", { class: "verdicts" }, cards));
}

function made(verdict) {
  const parts = Object.entries(verdict.records ?? {}).map(([type, count]) => `${count} ${type}`);
  if (verdict.accepted && Number.isInteger(verdict.nodes_upserted)) parts.push(counted(verdict.nodes_upserted, "node"), counted(verdict.edges_upserted, "edge"));
  if (!parts.length) return null;
  return el("p", { class: "quiet" }, verdict.source ? `source ${verdict.source}: ` : "", parts.join(", "));
}

function findings(list, kind) {
  if (!list?.length) return null;
  return el("ul", { class: `findings ${kind}` }, list.map((one) => el("li", {}, el("code", {}, one.path), " ", one.message)));
}

function beside(event) {
  const records = event.record_list ?? [];
  return el("div", { class: "beside" },
    section(`Event, ${size(event.size)}`, jsonTree(event.event)),
    section(counted(records.length, "record"), ...(records.length ? records.map(record) : [nothing("TrueWatch would make no record of it.")])));
}

function record(fields, index) {
  const type = String(fields.lineage_record_type);
  const rows = Object.entries(fields).filter(([name]) => name !== "lineage_message" && name !== "lineage_record_type");
  const hint = fields.field_name ?? fields.dataset_name ?? fields.job_name ?? "";
  return el("details", { class: "fold-part record", open: index === 0, data: { key: `record ${index}` } },
    el("summary", {}, icon("chevron"), el("span", { class: "mono" }, type), el("span", { class: "quiet row-title" }, cut(String(hint), 40)), copyButton(() => jsonText(fields), `the ${type} record`)),
    el("div", { class: "fold-body" }, facts(rows.map(([name, value]) => [name, el("span", { class: "mono" }, valueText(value))])), message(fields.lineage_message)));
}

function message(text) {
  if (typeof text !== "string") return null;
  return el("details", { class: "fold-part" }, el("summary", {}, icon("chevron"), el("span", { class: "mono" }, "lineage_message")),
    el("pre", { class: "code", tabindex: 0, "aria-label": "lineage_message" }, text));
}

function facetParts(event) {
  const groups = [
    ["Run", event?.run?.facets],
    ["Job", event?.job?.facets],
    ["Dataset", event?.dataset?.facets],
    ...["inputs", "outputs"].flatMap((side) => (Array.isArray(event?.[side]) ? event[side] : []).map((one) => [
      `${side === "inputs" ? "Input" : "Output"} ${one?.name}`, { ...one?.facets, ...one?.[side === "inputs" ? "inputFacets" : "outputFacets"] }])),
  ];
  const shown = groups.filter(([, facets]) => facets && typeof facets === "object" && Object.keys(facets).length);
  return shown.length ? shown.map(([name, facets]) => section(name, facetList(facets))) : [nothing("The event has no facet.")];
}

function arrivals(event) {
  return el("div", {}, event.arrivals.map((one) => section(`Arrival ${one.seq}`, facts([
    ["At", NAMES[one.destination] ?? one.destination],
    ["First", when(one.arrived_at)],
    ["Last", one.duplicates ? when(one.last_at) : null],
    ["Again", one.duplicates || null],
  ]), findings(one.warnings, "warning"))));
}
