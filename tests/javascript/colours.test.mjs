import assert from "node:assert/strict";
import { test } from "node:test";

import { groupColour, shade, stops } from "../../vendiscore_page/static/showing/colours.js";

const light = ([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;

test("colours run from viridis's dark violet to its yellow, and grow lighter all the way", () => {
  assert.deepEqual(shade(0), [0x44, 0x01, 0x54]);
  assert.deepEqual(shade(1), [0xfd, 0xe7, 0x25]);
  const shares = Array.from({ length: 101 }, (_, i) => light(shade(i / 100)));
  for (let i = 1; i < shares.length; i++) assert.ok(shares[i] > shares[i - 1]);
});

test("what lies beyond the ends has their colours", () => {
  assert.deepEqual(shade(-0.1), shade(0));
  assert.deepEqual(shade(1.1), shade(1));
  assert.equal(stops().length, 18);
});

test("eight clusters have colours of their own, and all further ones share one", () => {
  const names = Array.from({ length: 12 }, (_, number) => groupColour(number));
  assert.equal(new Set(names).size, 9);
  assert.equal(groupColour(-1), "r-alone");
});
