// Where the arrow keys lead.

const STEPS = { ArrowLeft: ["target", "source"], ArrowRight: ["source", "target"] };

/**
 * Finds the node that an arrow key leads to: left and right follow the edges, up and down go to the next one above or below.
 * @param {{nodes: Array, edges: Array}} graph
 * @param {string} id The node that has the focus.
 * @param {string} key `ArrowLeft`, `ArrowRight`, `ArrowUp` or `ArrowDown`.
 * @returns {string|undefined} undefined where nothing lies that way.
 */
export function neighbour(graph, id, key) {
  const self = graph.nodes.find((node) => node.id === id);
  if (!self) return undefined;
  const others = key in STEPS ? linked(graph, id, ...STEPS[key]) : stacked(graph, self, key === "ArrowDown" ? 1 : -1);
  return nearest(self, others)?.id;
}

function linked(graph, id, here, there) {
  const ids = new Set(graph.edges.filter((edge) => edge[here] === id).map((edge) => edge[there]));
  return graph.nodes.filter((node) => ids.has(node.id));
}

function stacked(graph, self, sign) {
  const beyond = graph.nodes.filter((node) => (node.y - self.y) * sign > 0.5);
  const column = beyond.filter((node) => node.x < self.x + self.width && node.x + node.width > self.x);
  return column.length ? column : beyond;
}

function nearest(self, others) {
  const distance = (node) => Math.abs(node.y - self.y) + Math.abs(node.x - self.x) * 0.2;
  return others.reduce((best, node) => (best === undefined || distance(node) < distance(best) ? node : best), undefined);
}
