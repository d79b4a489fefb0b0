// Pieces that several panels share.

import { button, el } from "./dom.js";
import { copyButton } from "./copy.js";
import { icon, stateBadge, stateLook } from "./icons.js";
import { briefly, cut } from "./text.js";

/** A titled part of a panel. @param {string} title @param {...(Node|string|null)} children */
export function section(title, ...children) {
  return el("section", { class: "part" }, el("h3", {}, title), ...children);
}

/**
 * A list of names and values; rows whose value is null or empty are left out.
 * @param {Array<[string, any, string?]>} rows Name, value, and what to call it where it can be copied.
 */
export function facts(rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("dl", { class: "facts" }, shown.map(([name, value, copied]) => [
    el("dt", {}, name),
    el("dd", {}, value instanceof Node ? value : el("span", { class: copied ? "mono" : "" }, String(value)),
      copied && copyButton(String(value), copied)),
  ]));
}

/** What stands where a list would be empty. @param {string} text */
export const nothing = (text) => el("p", { class: "nothing" }, text);

/** A state with icon and word. @param {string|null} state */
export function stateChip(state) {
  return el("span", { class: `chip state-${stateLook(state).key}` }, stateBadge(state), stateLook(state).word);
}

/**
 * A row that opens something.
 * @param {{key: string, mark: Node, title: string, note: string, side?: string, full?: string, current?: boolean}} look
 * @param {function(): void} act
 */
export function row(look, act) {
  const attributes = { class: "row", title: look.full ?? look.title, "aria-current": look.current ? "true" : null, data: { key: look.key } };
  return button(attributes, act, look.mark,
    el("span", { class: "row-text" }, el("span", { class: "row-title" }, look.title), el("span", { class: "row-note" }, look.note)),
    look.side && el("span", { class: "row-side" }, look.side));
}

/** A row for an event. @param {Object} event A summary. @param {boolean} current @param {function(Object): void} open */
export function eventRow(event, current, open) {
  const name = event.job_name ?? event.dataset_name ?? event.event_id;
  return row({
    key: `event ${event.event_id} ${event.seq}`,
    mark: event.event_type ? stateBadge(event.event_type) : icon("event", "kind-icon"),
    title: cut(name, 44),
    full: `${event.job_namespace ?? event.dataset_namespace ?? ""}/${name}`,
    note: [event.event_type ?? event.kind, event.destination, event.duplicates ? `received ${event.duplicates + 1} times` : ""].filter(Boolean).join(" · "),
    side: briefly(event.arrived_at ?? event.event_time),
    current,
  }, () => open(event));
}
