// The drawer of one run of a job.

import { button, el } from "./dom.js";
import { copyButton } from "./copy.js";
import { icon, stateBadge } from "./icons.js";
import { facetList } from "./node-panel.js";
import { eventRow, facts, nothing, section, stateChip } from "./parts.js";
import { cut, duration, when } from "./text.js";

/**
 * Reads a run; the arguments are as for `nodePanel`.
 * @returns {Promise<import("./drawer.js").Panel>}
 */
export async function runPanel(get, view, change) {
  const [found, events] = await Promise.all([
    get("runs", { run_id: view.run, limit: 50 }),
    get("events", { run_id: view.run, order: "desc", limit: 50 }),
  ]);
  const run = found.runs.find((one) => one.job === view.select) ?? found.runs[0];
  if (!run) throw new Error("No event of this run is stored.");
  const own = events.events.filter((event) => event.job_name === run.job_name && event.job_namespace === run.job_namespace);
  return {
    kind: "Run",
    title: run.run_id,
    full: run.run_id,
    mark: stateBadge(run.state),
    actions: [
      button({ class: "button", data: { key: "job" } }, () => change({ select: run.job, run: null, event: null, tab: null }), icon("job"), cut(run.job_name, 36)),
      copyButton(run.run_id, "the run id", "Run id"),
    ],
    tabs: [
      { id: "about", name: "About", build: () => about(run, change) },
      { id: "events", name: "Events", count: own.length, build: () => list(own, change) },
      { id: "facets", name: "Facets", count: Object.keys(facets(own)).length, build: () => [facetList(facets(own))] },
    ],
  };
}

function about(run, change) {
  return [section("Run", facts([
    ["State", stateChip(run.state)],
    ["Run", run.run_id, "the run id"],
    ["Job", `${run.job_namespace}/${run.job_name}`, "the job"],
    ["Started", when(run.started_at)],
    ["Ended", run.open ? "no COMPLETE, FAIL or ABORT yet" : when(run.ended_at)],
    ["Took", run.open ? null : duration(run.duration_s)],
    ["Nominal", [...new Set([run.nominal_start, run.nominal_end])].filter(Boolean).map(when).join(" to ")],
    ["Events", run.duplicates ? `${run.events}, and ${run.duplicates} received again` : run.events],
  ])), run.error_message && section("Error", el("pre", { class: "code", tabindex: 0, "aria-label": "Error message" }, run.error_message)),
  ancestor("Parent", run.parent, change), ancestor("Root", run.root, change)].filter(Boolean);
}

function ancestor(title, other, change) {
  if (!other) return null;
  return section(title, facts([
    ["Job", button({ class: "link", data: { key: title } }, () => change({ select: other.job, run: other.run_id, event: null, tab: null }), `${other.job_namespace}/${other.job_name}`)],
    ["Run", other.run_id, `the ${title.toLowerCase()}’s run id`],
  ]));
}

/** The facets of a run add up over its events; the newest of a name wins. */
function facets(events) {
  return Object.assign({}, ...[...events].reverse().map((event) => event.event?.run?.facets ?? {}));
}

function list(events, change) {
  if (!events.length) return [nothing("None.")];
  return [el("div", { class: "rows" }, events.map((event) => eventRow(event, false, () => change({ event: event.event_id, tab: null }))))];
}
