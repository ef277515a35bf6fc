import assert from "node:assert/strict";
import { test } from "node:test";

import { groupColour } from "../../vendiscore_page/static/showing/colours.js";

test("groupColour has eight distinct colours and one for further themes", () => {
  const names = Array.from({ length: 12 }, (_, number) => groupColour(number));
  assert.equal(new Set(names).size, 9);
  assert.equal(groupColour(-1), "r-alone");
});
