import assert from "node:assert/strict";
import { test } from "node:test";

import * as dom from "../../vendiscore_page/static/dom.js";

test("count, score and some format numbers", () => {
  assert.equal(dom.count(1234567), "1,234,567");
  assert.equal(dom.score(1234.06), "1,234.1");
  assert.equal(dom.score(2), "2.0");
  assert.equal(dom.some(1, "sample"), "1 sample");
  assert.equal(dom.some(1000, "sample"), "1,000 samples");
});

test("alike and signed use a minus sign, and none for zero", () => {
  assert.equal(dom.alike(-0.125), "−0.13");
  assert.equal(dom.alike(-0.001), "0.00");
  assert.equal(dom.signed("-0"), "0");
  assert.equal(dom.signed("-0.5 to -0.2"), "−0.5 to -0.2");
});

test("error shows two decimals below 0.095 and nothing for zero", () => {
  assert.equal(dom.error(0.26), "0.3");
  assert.equal(dom.error(0.095), "0.1");
  assert.equal(dom.error(0.0123), "0.01");
  for (const none of [0, 1e-7, null, undefined, NaN]) assert.equal(dom.error(none), "");
});

test("whole shows the number of samples or the mean group size", () => {
  const group = { group: "a", n: 2, VS: 1 };
  assert.equal(dom.whole({ n: 1200, of: 1200 }), "1,200");
  assert.equal(dom.whole({ n: 12, of: 6, by_group: [group] }), "6 per group");
  assert.equal(dom.whole({ n: 11, of: 5.5, by_group: [group] }), "5.5 per group");
});

test("scoreKey and vendi find the score of any order", () => {
  assert.equal(dom.scoreKey({ n: 2, VS_se: 0.1, VS: 1.5 }), "VS");
  assert.equal(dom.vendi({ VS_q2_se: 0.1, VS_q2: 1.25, VS_corrected: 3 }), 1.25);
  assert.equal(dom.vendi({ "VS_q0.5": 1 }), 1);
});

test("dotted and about omit missing words", () => {
  assert.equal(dom.dotted("a", "", null, undefined, "b"), "a · b");
  assert.equal(dom.about({ name: "poems", comparison: "" }), "poems");
});

test("cut truncates between characters, on one line", () => {
  assert.equal(dom.cut("  a\n\tb  ", 3), "a b");
  assert.equal(dom.cut("abcd", 3), "abc…");
  assert.equal(dom.cut("ab cd", 3), "ab…");
  assert.equal(dom.cut("🙂🙂🙂", 2), "🙂🙂…");
  assert.equal(dom.cut("🙂🙂", 2), "🙂🙂");
});

test("later runs once, with the last arguments", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const ran = [];
  const run = dom.later((value) => ran.push(value), 100);
  run(1);
  context.mock.timers.tick(99);
  run(2);
  context.mock.timers.tick(99);
  assert.deepEqual(ran, []);
  context.mock.timers.tick(1);
  assert.deepEqual(ran, [2]);
});

test("newId returns distinct ids", () => {
  assert.match(dom.newId("menu"), /^r-menu-\d+$/);
  assert.notEqual(dom.newId("menu"), dom.newId("menu"));
});

test("trouble distinguishes expired results, problems and no response", () => {
  assert.match(dom.trouble({ gone: true, problem: { text: "x" } }), /no longer stored/);
  assert.equal(dom.trouble({ problem: { text: "Too long." } }), "Too long.");
  assert.match(dom.trouble(new Error("x")), /did not respond/);
});
