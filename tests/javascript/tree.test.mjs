import assert from "node:assert/strict";
import { test } from "node:test";

import { byValue } from "../../vendiscore_page/static/showing/map.js";
import { cutTree } from "../../vendiscore_page/static/showing/tree.js";

// 0 and 3 merge to 5, 1 and 4 to 6, 2 joins 5 as 7, and both are 8.
const TREE = { count: 2, merges: [[0, 3], [1, 4], [2, 5], [6, 7]], typical: [3, 1, 0, 4] };

test("tree is cut into a given number of themes, largest first", () => {
  const themes = [1, 2, 3, 5].map((many) => cutTree(TREE, 5, many));
  assert.deepEqual(themes.map(({ codes }) => codes), [
    [0, 0, 0, 0, 0], [0, 1, 0, 0, 1], [0, 1, 2, 0, 1], [0, 1, 2, 3, 4],
  ]);
  assert.deepEqual(themes.map(({ typical }) => typical), [[4], [0, 1], [3, 1, 2], [0, 1, 2, 3, 4]]);
});

test("single sample is one theme", () => {
  assert.deepEqual(cutTree({ merges: [], typical: [] }, 1, 1), { codes: [0], typical: [0] });
});

test("values are numbered by frequency or in a given order", () => {
  assert.deepEqual(byValue(["b", "a", "a", 1]), { codes: [1, 0, 0, 2], names: ["a", "b", "1"] });
  assert.deepEqual(byValue(["b", "a"], ["b", "a"]).codes, [0, 1]);
});
