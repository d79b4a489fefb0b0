// Draws nodes and edges of the graph.

import { svg } from "./dom.js";
import { iconPath, stateLook } from "./icons.js";
import { counted, shorten } from "./text.js";

const FAMILY = "system-ui, sans-serif";
const NAME = `600 13px ${FAMILY}`;
const FAR_NAME = `600 20px ${FAMILY}`;
const NOTE = `400 11px ${FAMILY}`;
const FIELD = `400 12px ${FAMILY}`;
const HEAD = 44;
const CORNER = 8;

/**
 * Draws a job, a dataset or a column.
 * @param {Object} node As the API answers it, laid out.
 * @returns {SVGGElement} Its `data-id` is the node's id.
 */
export function drawNode(node) {
  return { job: drawJob, dataset: drawDataset, column: drawColumn }[node.type](node);
}

/**
 * Draws an edge from its points.
 * @param {Object} edge
 * @returns {SVGPathElement}
 */
export function drawEdge(edge) {
  const path = edge.type === "field" ? curve(edge.points) : rounded(edge.points);
  const kind = edge.type === "field" && edge.indirect ? "field indirect" : edge.type;
  return svg("path", { class: `edge ${kind}`, d: path, "marker-end": edge.type === "field" ? null : "url(#arrow)" });
}

/** Describes a node in words. @param {Object} node @returns {string} */
function describe(node) {
  if (node.type === "job") return `Job ${node.namespace}/${node.name}, ${stateLook(node.state).word}, ${counted(node.runs, "run")}`;
  if (node.type === "column") return `Column ${node.field} of ${node.name}${node.data_type ? `, ${node.data_type}` : ""}`;
  const columns = node.columns ? `${counted(node.columns, "column")}, press E to ${node.expanded ? "close" : "open"} them` : "no columns";
  return `Dataset ${node.namespace}/${node.name}, ${columns}`;
}

function drawJob(node) {
  const { key, word } = stateLook(node.state);
  const note = node.runs ? `${word} · ${counted(node.runs, "run")}` : word;
  return group(node, `job state-${key}`, [
    svg("rect", { class: "box", width: node.width, height: node.height, rx: 12 }),
    svg("circle", { class: "badge-back", cx: 24, cy: node.height / 2, r: 11 }),
    svg("path", { class: "badge-mark", d: iconPath(`state_${key}`), transform: `translate(14 ${node.height / 2 - 10})` }),
    ...texts(node, note, 44, node.width - 56, node.height),
  ]);
}

function drawDataset(node) {
  const open = node.height > HEAD;
  const head = Math.min(HEAD, node.height);
  // Among columns traced, a dataset shows those that are traced, and has nothing to open.
  const opens = node.columns > 0 && (node.expanded || !open);
  const note = node.columns ? counted(node.columns, "column") : "no columns";
  const group_ = group(node, `dataset${open ? " open" : ""}`, [
    svg("rect", { class: "box", width: node.width, height: node.height, rx: 5 }),
    svg("path", { class: "kind", d: iconPath("dataset"), transform: `translate(13 ${head / 2 - 10})` }),
    ...texts(node, note, 44, node.width - 56 - (opens ? 22 : 0), head),
    ...(opens ? [opener(node, head)] : []),
  ]);
  if (opens) group_.setAttribute("aria-expanded", String(Boolean(node.expanded)));
  return group_;
}

function drawColumn(node) {
  const typeRoom = node.data_type ? Math.min(80, node.width * 0.36) : 0;
  return group(node, "column", [
    svg("rect", { class: "box", x: 1, width: node.width - 2, height: node.height, rx: 3 }),
    label(node.field, FIELD, 14, node.height / 2 + 4, node.width - 28 - typeRoom, "field-name"),
    node.data_type ? label(node.data_type, NOTE, node.width - 12, node.height / 2 + 4, typeRoom, "field-type") : null,
  ]);
}

function group(node, kind, children) {
  const attributes = {
    class: `node ${kind}`,
    transform: `translate(${node.x} ${node.y})`,
    role: "button",
    tabindex: -1,
    "aria-label": describe(node),
    data: { id: node.id },
  };
  const full = node.type === "column" ? `${node.field}${node.data_type ? `  ${node.data_type}` : ""}` : `${node.namespace}/${node.name}`;
  return svg("g", attributes, svg("title", {}, full), ...children);
}

/** Two lines for near, one larger line for far. */
function texts(node, note, x, room, height) {
  return [
    label(node.label, NAME, x, height / 2 - 2, room, "name near"),
    label(note, NOTE, x, height / 2 + 13, room, "note near"),
    label(node.label, FAR_NAME, x, height / 2 + 7, room, "name far"),
  ];
}

function label(text, font, x, y, room, className) {
  return svg("text", { class: className, x, y }, shorten(text, room, font));
}

function opener(node, head) {
  const turn = node.expanded ? "rotate(90 10 10)" : "";
  return svg("g", { class: "opener", transform: `translate(${node.width - 30} ${head / 2 - 10})`, data: { open: node.id } },
    svg("rect", { x: -5, y: -5, width: 30, height: 30, rx: 4 }),
    svg("path", { d: iconPath("chevron"), transform: turn || null }));
}

function curve(points) {
  const [[x1, y1], [x2, y2]] = [points[0], points.at(-1)];
  const bend = x2 > x1 ? Math.max(30, (x2 - x1) / 2) : 90;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Straight pieces with rounded corners. */
function rounded(points) {
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let index = 1; index < points.length - 1; index += 1) {
    const [before, at, after] = [points[index - 1], points[index], points[index + 1]];
    const enter = toward(at, before);
    const leave = toward(at, after);
    path += `L${enter[0]} ${enter[1]}Q${at[0]} ${at[1]} ${leave[0]} ${leave[1]}`;
  }
  return `${path}L${points.at(-1)[0]} ${points.at(-1)[1]}`;
}

function toward([x, y], [otherX, otherY]) {
  const length = Math.hypot(otherX - x, otherY - y) || 1;
  const step = Math.min(CORNER, length / 2) / length;
  return [round(x + (otherX - x) * step), round(y + (otherY - y) * step)];
}

function round(value) {
  return Math.round(value * 10) / 10;
}
