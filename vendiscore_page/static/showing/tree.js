/** The tree in which samples merge to themes. */

/**
 * Cuts the tree of merges into so many themes, the largest first, each with its typical sample.
 * @param {Result["themes"]} tree
 * @param {number} size
 * @param {number} many
 */
export function cutTree({ merges, typical }, size, many) {
  const above = Array.from({ length: 2 * size - 1 }, (_, node) => node);
  merges.slice(0, size - many).forEach((pair, at) => pair.forEach((node) => (above[node] = size + at)));
  // A node stands above those that it joins, so that the last one is found first.
  for (let node = above.length - 1; node >= 0; node--) above[node] = above[above[node]];
  /** @type {Map<number, number[]>} */
  const members = new Map();
  for (let i = 0; i < size; i++) members.set(above[i], [...(members.get(above[i]) ?? []), i]);
  const themes = [...members].sort(([, a], [, b]) => b.length - a.length || a[0] - b[0]);
  const codes = new Array(size).fill(0);
  themes.forEach(([, some], code) => some.forEach((i) => (codes[i] = code)));
  return { codes, typical: themes.map(([node]) => (node < size ? node : typical[node - size])) };
}
