// What the shapes and marks of the graph mean.

import { el } from "./dom.js";
import { icon, stateBadge, stateLook } from "./icons.js";
import { counted } from "./text.js";

const STATES = ["COMPLETE", "RUNNING", "FAIL", "ABORT", null];

/**
 * Shows the legend.
 * @param {HTMLElement} host
 * @returns {function(Object|null): void} Counts what a graph shows.
 */
export function showLegend(host) {
  const count = el("span", { class: "counts" });
  host.append(count,
    ...STATES.map((state) => el("span", {}, stateBadge(state), stateLook(state).word)),
    el("span", {}, icon("dataset", "kind-icon"), "dataset"),
  );
  return (graph) => {
    const nodes = graph?.nodes.filter((node) => node.type !== "column").length;
    count.textContent = graph ? `${counted(nodes, "node")}, ${counted(graph.edges.length, "edge")}` : "";
  };
}
