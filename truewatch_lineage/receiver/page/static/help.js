// The list of keys.

import { button, el } from "./dom.js";
import { icon } from "./icons.js";

const KEYS = [
  [["/"], "Search"],
  [["g"], "Go to the graph"],
  [["←", "→"], "Follow the edges upstream, downstream"],
  [["↑", "↓"], "To the next node above, below"],
  [["Enter"], "Details, and light its paths"],
  [["c"], "Centre the graph on the node"],
  [["e"], "Open or close its columns"],
  [["+", "−", "0"], "Zoom in, out, show all"],
  [["Shift", "←"], "Pan"],
  [["Esc"], "Close, step by step"],
];

/**
 * Prepares the dialog.
 * @param {HTMLDialogElement} dialog
 * @returns {function(): void} Opens it.
 */
export function startHelp(dialog) {
  const close = button({ class: "icon-button", "aria-label": "Close" }, () => dialog.close(), icon("close"));
  dialog.append(el("div", { class: "drawer-line" }, el("h2", { id: "help-title" }, "Keys"), close),
    el("dl", { class: "keys" }, KEYS.map(([keys, does]) => [el("dt", {}, keys.map((key) => el("kbd", {}, key))), el("dd", {}, does)])));
  return () => dialog.showModal();
}
