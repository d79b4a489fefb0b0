// What is shown, as the part of the address after `#`: whoever opens it sees the same.

export const DIRECTIONS = ["upstream", "both", "downstream"];
export const MAX_DEPTH = 100;

/**
 * @typedef {Object} View
 * @property {string|null} node The node in the middle; null shows all that is stored.
 * @property {number} depth
 * @property {"upstream"|"both"|"downstream"} direction
 * @property {"table"|"column"} granularity
 * @property {string[]} columns Datasets that are open, or ["*"].
 * @property {string|null} select The node in the drawer, whose paths are lit.
 * @property {string|null} run The run in the drawer.
 * @property {string|null} event The event in the drawer.
 * @property {string|null} tab The drawer's tab.
 * @property {number} limit Nodes at most.
 */

/** @type {View} */
export const PLAIN = {
  node: null,
  depth: 3,
  direction: "both",
  granularity: "table",
  columns: [],
  select: null,
  run: null,
  event: null,
  tab: null,
  limit: 500,
};

/**
 * Reads the view from an address; what is missing or odd is as in `PLAIN`.
 * @param {string} hash
 * @returns {View}
 */
export function readAddress(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const text = (name) => query.get(name) || null;
  return {
    node: text("node"),
    depth: number(text("depth"), 0, MAX_DEPTH, PLAIN.depth),
    direction: DIRECTIONS.includes(text("direction")) ? text("direction") : PLAIN.direction,
    granularity: text("granularity") === "column" ? "column" : "table",
    columns: query.getAll("columns"),
    select: text("select"),
    run: text("run"),
    event: text("event"),
    tab: text("tab"),
    limit: number(text("limit"), 1, 10000, PLAIN.limit),
  };
}

/**
 * Writes a view as an address; only what differs from `PLAIN`.
 * @param {View} view
 * @returns {string} Begins with `#`.
 */
export function writeAddress(view) {
  const query = new URLSearchParams();
  for (const [name, plain] of Object.entries(PLAIN)) {
    for (const value of [view[name]].flat()) {
      if (value !== plain && value !== null) query.append(name, String(value));
    }
  }
  return `#${query}`;
}

/**
 * Makes the id of a job's node.
 * @param {string|null} namespace
 * @param {string|null} name
 * @returns {string|null} null if there is no job.
 */
export function jobId(namespace, name) {
  if (namespace === null || name === null) return null;
  return `job:${namespace.replaceAll("%", "%25").replaceAll("|", "%7C")}|${name}`;
}

function number(text, least, most, otherwise) {
  return /^\d{1,5}$/.test(text ?? "") ? Math.min(most, Math.max(least, Number(text))) : otherwise;
}
