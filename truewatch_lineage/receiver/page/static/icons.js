// Small line icons, drawn by the page itself, and the icon and word of each run state.

import { svg } from "./dom.js";

const PATHS = {
  job: "M4 6.5A1.5 1.5 0 0 1 5.5 5h9A1.5 1.5 0 0 1 16 6.5v7a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 4 13.5ZM8.5 8v4l3.5-2Z",
  dataset: "M4 5.5C4 4.1 6.7 3 10 3s6 1.1 6 2.5v9c0 1.4-2.7 2.5-6 2.5s-6-1.1-6-2.5ZM4 5.5C4 6.9 6.7 8 10 8s6-1.1 6-2.5M4 10c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5",
  column: "M7 3.5h6v13H7zM7 7.5h6M7 12h6",
  run: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM10 6.5V10l2.5 1.5",
  event: "M5 3.5h7l3 3v10H5zM12 3.5v3h3M7.5 10h5M7.5 13h5",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11ZM13 13l4 4",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  done: "M4.5 10.5 8.5 14.5 15.5 6",
  close: "M5 5l10 10M15 5 5 15",
  plus: "M10 4.5v11M4.5 10h11",
  minus: "M4.5 10h11",
  fit: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
  target: "M10 5.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10 2.5v3M10 14.5v3M2.5 10h3M14.5 10h3",
  chevron: "M7.5 5l5 5-5 5",
  left: "M16 10H4M9 5l-5 5 5 5",
  right: "M4 10h12M11 5l5 5-5 5",
  both: "M3 10h14M6.5 6.5 3 10l3.5 3.5M13.5 6.5 17 10l-3.5 3.5",
  side: "M3.5 4.5h13v11h-13zM8 4.5v11",
  light: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4",
  dark: "M15.5 12A6.5 6.5 0 0 1 8 4.5a6.5 6.5 0 1 0 7.5 7.5Z",
  auto: "M3.5 4.5h13v9h-13zM7.5 16.5h5M10 13.5v3",
  state_complete: "M5.5 10.3 8.7 13.5 14.5 6.8",
  state_fail: "M6.3 6.3l7.4 7.4M13.7 6.3l-7.4 7.4",
  state_abort: "M6.5 6.5h7v7h-7z",
  state_running: "M7.5 6l6 4-6 4z",
  state_other: "M6.5 8.5a3.5 3 0 1 1 4.5 3c-.7.2-1 .6-1 1.2M10 15v.2",
  state_none: "M6 10h8",
};

const STATES = {
  START: ["running", "started"],
  RUNNING: ["running", "running"],
  COMPLETE: ["complete", "complete"],
  FAIL: ["fail", "failed"],
  ABORT: ["abort", "aborted"],
  OTHER: ["other", "other"],
};

/**
 * What a run state looks like.
 * @param {string|null} state As the API says it.
 * @returns {{key: string, word: string}} The key of colour and icon, and the word beside it.
 */
export function stateLook(state) {
  const [key, word] = STATES[state] ?? (state ? ["other", state.toLowerCase()] : ["none", "no run yet"]);
  return { key, word };
}

/**
 * Draws an icon in the colour of the text around it.
 * @param {string} name
 * @param {string} [className]
 * @returns {SVGElement}
 */
export function icon(name, className = "") {
  return svg("svg", { class: `icon ${className}`, viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/** The path of an icon, for use within the graph. @param {string} name */
export const iconPath = (name) => PATHS[name];

/**
 * Draws a run state as a round badge.
 * @param {string|null} state
 */
export function stateBadge(state) {
  return icon(`state_${stateLook(state).key}`, `badge state-${stateLook(state).key}`);
}
