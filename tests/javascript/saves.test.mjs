import assert from "node:assert/strict";
import { test } from "node:test";

import { csv, everythingText, tableRows } from "../../vendiscore_page/static/showing/saves.js";
import { called, kept, makeView } from "../../vendiscore_page/static/showing/view.js";

const RESULT = {
  threshold: 0.8,
  boundary: [[3, 4, 0.9]],
  floor: 0.301,
  groups: [{ keep: 3, rest: [1, 4] }, { keep: 0, rest: [] }, { keep: 2, rest: [] }],
  without: { left: 3, VS: 2.5, of: 5, all: 2.9 },
  themes: { count: 2, merges: [[1, 4], [3, 5], [0, 6], [2, 7]], typical: [1, 4, 4, 1] },
  samples: {
    place: [1, 2, 4, 7, 8],
    cells: [],
    text: ["a", "b", "c", "b b", "b"],
    group: null,
    nearest: [1, 4, -1, 1, 1],
    similarity: [0.1, 1, null, 0.9, 1],
    adds: [20, 1.5, null, 3, 1.5],
  },
};
const signal = new AbortController().signal;
const viewed = (result) => makeView(result, { announce() {} }, signal);

test("makeView assigns samples to near-duplicate groups", () => {
  const view = viewed(RESULT);
  assert.deepEqual([...view.groupOf], [-1, 0, -1, 0, 0]);
  assert.deepEqual([view.alone, view.groups.length], [[0, 2], 1]);
  assert.deepEqual(kept(view), [0, 2, 3]);
  assert.equal(view.lowest, 0.31);
});

test("setGroups replaces groups and notifies listeners", () => {
  const view = viewed(RESULT);
  const heard = [];
  view.on("groups", ({ threshold }) => heard.push([threshold, view.alone.length]));
  view.setGroups({ threshold: 0.95, boundary: [[1, 4, 1], [3, 4, 0.9]], groups: [{ keep: 1, rest: [4] }], without: RESULT.without });
  assert.deepEqual(heard, [[0.95, 3]]);
  assert.deepEqual(view.boundary, [[1, 4, 1], [3, 4, 0.9]]);
});

test("called formats a line number or a file name", () => {
  assert.deepEqual([called(7), called("7"), called("photos/7.png")], ["#7", "#7", "photos/7.png"]);
  const place = ["a/very/deep/folder/cat.png", 2, 3, 4, 5];
  const view = viewed({ ...RESULT, samples: { ...RESULT.samples, place, text: null } });
  assert.deepEqual([view.mark(0), view.text(0), view.hasText], ["cat.png", place[0], false]);
});

test("tableRows contain results and whether a sample is kept", () => {
  const [first, ...rows] = tableRows(viewed(RESULT), [0, 2, 3]);
  assert.deepEqual(first, ["place", "sample", "adds_percent", "similarity", "keep", "theme", "nearest"]);
  assert.deepEqual(rows[1], [2, "b", 1.5, 1, 0, 1, 8]);
  assert.deepEqual(rows[2], [4, "c", null, null, 1, 2, undefined]);
  assert.deepEqual(tableRows(viewed(RESULT), [3], [3]), [first, [7, "b b", 3, 0.9, 1, 1, 2]]);
});

test("tableRows keep the order of table columns and add ids and groups", () => {
  const group = ["x", "x", "y", "y", "y"];
  const cells = [["2020", [5, 5, 5, 5, 5]], ["doc", [1, 2, 4, 7, 8]], ["answer", ["a", "b", "c", "b b", "b"]], ["theme", [9, 9, 9, 9, 9]]];
  const samples = { ...RESULT.samples, group, cells };
  const [first, row] = tableRows(viewed({ ...RESULT, id_column: "doc", column: "answer", samples }), []);
  assert.deepEqual(first, ["2020", "doc", "answer", "theme", "group", "adds_percent", "similarity", "keep", "vendiscore_theme", "nearest"]);
  assert.deepEqual(row, [5, 1, "a", 9, "x", 20, 0.1, 0, 1, 2]);
});

test("names of molecules are searched and saved", () => {
  const name = ["ethanol", "", "", "", ""];
  const view = viewed({ ...RESULT, samples: { ...RESULT.samples, name } });
  assert.deepEqual([view.text(0), view.words(0), view.words(1)], ["a", "ethanol: a", "b"]);
  const [first, row] = tableRows(view, []);
  assert.deepEqual(first.slice(0, 4), ["place", "sample", "name", "adds_percent"]);
  assert.deepEqual(row.slice(0, 3), [1, "a", "ethanol"]);
});

test("csv quotes cells with commas, quotes and line breaks", () => {
  const rows = [["a,b", 'say "no"', "two\nlines"], [0, null, undefined], ["ü", "a\r", -1.5]];
  const text = csv(rows);
  assert.equal(text[0], "\ufeff");
  assert.equal(text.slice(1), '"a,b","say ""no""","two\nlines"\r\n0,,\r\nü,"a\r",-1.5\r\n');
});

test("csv escapes formulas in texts but not in numbers", () => {
  const texts = ["=1+1", "+1 to that", "-5 degrees", "@SUM(A1)", "\tx", "\rx", "\nx", "'=1", "''-a"];
  for (const text of texts) {
    const cell = csv([[text]]).slice(1, -2).replace(/^"([^]*)"$/, "$1");
    assert.equal(cell, `'${text}`);
  }
  const plain = ["-0.5", "+3", "-1e-7", "a=1", "'a", "", -0.5];
  assert.equal(csv([plain]).slice(1), "-0.5,+3,-1e-7,a=1,'a,,-0.5\r\n");
});

test("everythingText omits session keys", () => {
  const samples = { id: ["a"], key: ["b"] };
  const text = everythingText({ id: "secret", key: "secret", id_column: "doc", VS: 2, samples });
  assert.deepEqual(JSON.parse(text), { id_column: "doc", VS: 2, samples });
});
