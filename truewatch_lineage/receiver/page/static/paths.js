// What is upstream and downstream of a selection, within the graph that is shown.

/**
 * @typedef {Object} Lit
 * @property {Set<string>} nodes Ids of the selection and of all that leads to it or comes from it.
 * @property {Set<string>} edges
 * @property {number} upstream Jobs and datasets (for a column: columns) before it.
 * @property {number} downstream
 */

/**
 * Finds the paths through a node.
 * @param {{nodes: Array, edges: Array}} graph As the API answers it.
 * @param {string} id
 * @returns {Lit}
 */
export function pathsThrough(graph, id) {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const self = byId.get(id);
  const starts = new Set([id, ...columnsOf(graph, new Set([id]))]);
  const column = self.type === "column";
  const ways = column ? graph.edges.filter((edge) => edge.type === "field") : graph.edges;
  const up = walk(ways, starts, "target", "source");
  const down = walk(ways, starts, "source", "target");
  for (const side of [up, down]) widen(graph, byId, side, column);
  const edges = graph.edges.filter((edge) => within(up, edge) || within(down, edge));
  const counted = (side) => [...side].filter((one) => !starts.has(one) && (byId.get(one)?.type === "column") === column).length;
  return {
    nodes: new Set([...up, ...down]),
    edges: new Set(edges.map((edge) => edge.id)),
    upstream: counted(up),
    downstream: counted(down),
  };
}

function walk(edges, starts, from, to) {
  const next = new Map();
  for (const edge of edges) {
    if (!next.has(edge[from])) next.set(edge[from], []);
    next.get(edge[from]).push(edge[to]);
  }
  const seen = new Set(starts);
  for (const id of seen) for (const other of next.get(id) ?? []) seen.add(other);
  return seen;
}

/** A lit column lights its dataset and the jobs that made it; a lit dataset its columns, unless one column was asked for. */
function widen(graph, byId, lit, column) {
  if (column) {
    for (const edge of graph.edges) {
      if (edge.type === "field" && within(lit, edge)) for (const job of edge.jobs ?? []) if (byId.has(job)) lit.add(job);
    }
  } else {
    for (const id of columnsOf(graph, lit)) lit.add(id);
  }
  for (const id of [...lit]) {
    const parent = byId.get(id)?.parent;
    if (parent) lit.add(parent);
  }
}

function columnsOf(graph, datasets) {
  return graph.nodes.filter((node) => node.type === "column" && datasets.has(node.parent)).map((node) => node.id);
}

function within(lit, edge) {
  return lit.has(edge.source) && lit.has(edge.target);
}
