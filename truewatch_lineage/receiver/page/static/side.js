// The lists at the side: runs that are open, datasets without columns, and the latest events.

import { button, byId, el, refill } from "./dom.js";
import { icon, stateBadge } from "./icons.js";
import { eventRow, nothing, row } from "./parts.js";
import { briefly, counted, cut } from "./text.js";

const SHOWN = 50;

/**
 * @typedef {Object} SideHandlers
 * @property {function(string): void} node A dataset or job was chosen.
 * @property {function(Object): void} run
 * @property {function(Object): void} event
 */

/** The side. */
export class Side {
  /** @param {HTMLElement} host @param {function(string, Object=): Promise<Object>} get @param {SideHandlers} handlers */
  constructor(host, get, handlers) {
    this.get = get;
    this.handlers = handlers;
    /** The last event that was read. */
    this.newest = 0;
    this.totals = el("p", { class: "totals" });
    this.lists = {
      runs: list("Open runs", "START without COMPLETE, FAIL or ABORT"),
      datasets: list("Datasets without columns", "No column of them is known"),
      events: list("Latest events", "As they arrived"),
    };
    const fold = button({ class: "icon-button fold", "aria-label": "Hide or show the lists", title: "Hide or show the lists" },
      () => byId("work").classList.toggle("folded"), icon("side"));
    host.append(el("div", { class: "side-head" }, this.totals, fold), ...Object.values(this.lists).map((one) => one.details));
  }

  /**
   * Reads everything again.
   * @param {import("./address.js").View} view What is current is marked.
   */
  async refresh(view) {
    const [open, events, stats] = await Promise.all([
      this.get("open", { limit: SHOWN }),
      this.get("events", { order: "desc", fields: "summary", limit: 30 }),
      this.get("stats"),
    ]);
    this.totals.textContent = [counted(stats.jobs, "job"), counted(stats.datasets, "dataset"), counted(stats.events, "event")].join(" · ");
    fill(this.lists.runs, open.runs_total, open.runs.map((run) => this.#run(run, view)), stats.jobs ? "Every run that began has ended." : "No run has arrived.");
    fill(this.lists.datasets, open.datasets_total, open.datasets.map((one) => this.#dataset(one, view)), stats.datasets ? "Every dataset has its columns." : "No dataset has arrived.");
    const rows = events.events.map((event) => eventRow(event, event.event_id === view.event, this.handlers.event));
    fill(this.lists.events, null, rows, "None yet.");
    this.newest = events.events[0]?.seq ?? 0;
  }

  #run(run, view) {
    return row({
      key: `run ${run.run_id} ${run.job}`, mark: stateBadge(run.state), title: cut(run.job_name, 40),
      full: `${run.job_namespace}/${run.job_name}\n${run.run_id}\n${run.reason}`, note: run.reason,
      side: briefly(run.started_at ?? run.first_event_at), current: run.run_id === view.run && run.job === view.select,
    }, () => this.handlers.run(run));
  }

  #dataset(one, view) {
    return row({
      key: `dataset ${one.id}`, mark: icon("dataset", "kind-icon"), title: cut(one.label, 40), full: `${one.namespace}/${one.name}\n${one.reason}`,
      note: one.reason, current: one.id === view.select,
    }, () => this.handlers.node(one.id));
  }
}

function list(title, hint) {
  const count = el("span", { class: "count" });
  const body = el("div", { class: "rows" });
  const details = el("details", { class: "list", open: true }, el("summary", { title: hint }, icon("chevron"), el("span", {}, title), count), body);
  return { details, count, body };
}

function fill({ count, body }, total, rows, empty) {
  count.textContent = total === null ? "" : String(total);
  const more = total > rows.length ? [nothing(`and ${total - rows.length} more`)] : [];
  refill(body, ...(rows.length ? [...rows, ...more] : [nothing(empty)]));
}
