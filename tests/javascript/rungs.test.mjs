import assert from "node:assert/strict";
import { test } from "node:test";

import { named, rungs } from "../../vendiscore_page/static/showing/rungs.js";

const TOP = ["the most possible", 10];

test("at most five known sets are marked, near the score and in ascending order", () => {
  const scale = [1, 2, 3, 4, 5, 6, 7, 8].map((x) => [`set ${x}`, x]);
  const found = rungs({ scale: [...scale, TOP], VS: 6.2, of: 10 });
  assert.deepEqual(found.map(([, x]) => x), [4, 5, 6, 7, 8]);
});

test("of two that would overlap on the bar the nearer one is marked", () => {
  const found = rungs({ scale: [["far", 7], ["near", 7.1], TOP], VS: 8, of: 10 });
  assert.deepEqual(found, [["near", 7.1]]);
});

test("marks are named, and nothing is said without them", () => {
  const scale = [["gpt-4o", 3.95], ["people", 7.79], TOP];
  assert.equal(named({ scale, VS: 5, of: 10 }), "Marks on the bar: gpt-4o 4.0 · people 7.8");
  assert.equal(named({ scale: [], VS: 5, of: 10 }), "");
  assert.deepEqual(scale, [["gpt-4o", 3.95], ["people", 7.79], TOP]);
});
