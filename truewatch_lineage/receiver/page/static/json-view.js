// Shows JSON as a tree; what is closed is built only when it is opened, so that a large event costs little.

import { button, el } from "./dom.js";

const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 40;
const LONG = 400;

/**
 * Makes the tree of a value.
 * @param {any} value What `JSON.parse` gave.
 * @param {number} [depth] How many levels are open.
 * @returns {HTMLElement}
 */
export function jsonTree(value, depth = OPEN_DEPTH) {
  return el("div", { class: "json" }, branch(null, value, depth));
}

/** Writes JSON as text to be copied. @param {any} value */
export const jsonText = (value) => JSON.stringify(value, null, 2);

function branch(key, value, depth) {
  if (value === null || typeof value !== "object" || JSON.isRawJSON?.(value)) {
    return el("div", { class: "json-leaf" }, name(key), leaf(value));
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (!entries.length) return el("div", { class: "json-leaf" }, name(key), el("span", { class: "json-mark" }, open + close));
  return folder(key, entries, `${open} ${entries.length} ${close}`, depth, Array.isArray(value));
}

function folder(key, entries, summary, depth, list) {
  const body = el("div", { class: "json-body" });
  const build = () => {
    if (body.childElementCount) return;
    body.append(...entries.map(([one, inner]) => branch(list ? null : one, inner, depth - 1)));
  };
  const attributes = { class: "json-node", on: { toggle: build } };
  const details = el("details", attributes, el("summary", {}, name(key), el("span", { class: "json-mark" }, summary)), body);
  if (depth > 0 && entries.length <= OPEN_ENTRIES) {
    details.open = true;
    build();
  }
  return details;
}

function name(key) {
  return key === null ? null : [el("span", { class: "json-key" }, key), el("span", { class: "json-mark" }, ": ")];
}

function leaf(value) {
  if (typeof value !== "string") return el("span", { class: "json-literal" }, JSON.stringify(value));
  if (value.length <= LONG) return el("span", { class: "json-string" }, JSON.stringify(value));
  const text = el("span", { class: "json-string" }, JSON.stringify(value.slice(0, LONG)));
  const more = button({ class: "link" }, () => {
    text.textContent = JSON.stringify(value);
    more.remove();
  }, `show all ${value.length.toLocaleString("en")} characters`);
  return [text, " ", more];
}
