import assert from "node:assert/strict";
import { test } from "node:test";

import { said } from "../../vendiscore_page/static/showing/axes.js";
import { decimals, scale, stepOf, ticks } from "../../vendiscore_page/static/showing/scale.js";
import { flagged } from "../../vendiscore_page/static/showing/strip.js";

test("step is the smallest fitting 1, 2 or 5 times a power of ten", () => {
  for (let power = -6; power <= 6; power++) {
    for (const times of [1, 1.3, 2, 2.5, 4.9, 5, 7, 9.99]) {
      const [span, most] = [times * 10 ** power, 5];
      const step = stepOf(0, span, most);
      const first = Number(step.toExponential().split("e")[0]);
      assert.ok([1, 2, 5].includes(first), `${span}: ${step}`);
      assert.ok(span / step <= most * (1 + 1e-6), `${span}: ${step}`);
      assert.ok(span / (first === 5 ? step / 2.5 : step / 2) > most, `${span}: ${step}`);
    }
  }
});

test("ticks are all multiples of the step within the range", () => {
  assert.deepEqual(ticks(0.3, 1, 6), [0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(-0.2, 1, 6), [-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(ticks(0, 1730, 3), [0, 1000]);
  assert.deepEqual(ticks(1, 12, 4, 1), [5, 10]);
});

test("ticks of counts are integers", () => {
  assert.deepEqual(ticks(0, 2, 3, 1), [0, 1, 2]);
  assert.deepEqual(ticks(1, 2, 4, 1), [1, 2]);
});

test("scale maps its ends, and an empty range to its start", () => {
  const at = scale(0.3, 1, 52, 388);
  assert.equal(at(0.3), 52);
  assert.equal(at(1), 388);
  assert.ok(Math.abs(at(0.65) - 220) < 1e-9);
  assert.equal(scale(1, 1, 52, 388)(1), 52);
});

test("axis labels have the decimals of the step", () => {
  assert.deepEqual(said([0, 0.5, 1]), ["0.0", "0.5", "1.0"]);
  assert.deepEqual(said([-0.2, 0]), ["−0.2", "0.0"]);
  assert.deepEqual(said([0, 1000, 2000]), ["0", "1,000", "2,000"]);
  assert.deepEqual([0.001, 0.02, 0.5, 1, 20].map(decimals), [3, 2, 1, 0, 0]);
});

test("words below marks cover neither each other nor lines to marks", () => {
  const marks = [
    ["1: all identical", 6], ["8: no two similar", 770], ["sentences at low temperature 4.7", 574],
    ["stories at high temperature 5.9", 660], ["eight people 6.8", 706], ["one question 2.1", 200],
  ];
  const flags = flagged(marks, 776);
  assert.equal(flags.length, marks.length);
  for (const flag of flags) {
    assert.ok(flag.from >= 0 && flag.to <= 776, flag.words);
    for (const other of flags.filter((each) => each !== flag)) {
      assert.ok(flag.row !== other.row || flag.to < other.from || other.to < flag.from, flag.words);
      const isCrossed = other.row > flag.row && other.x > flag.from && other.x < flag.to;
      assert.ok(!isCrossed, `${flag.words} is crossed by the line to ${other.words}`);
    }
  }
});
