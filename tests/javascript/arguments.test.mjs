import assert from "node:assert/strict";
import { test } from "node:test";

import { literal, magnitude, written } from "../../vendiscore_page/static/asking/arguments.js";

const KERNEL = {
  kernel: "ngram_overlap",
  arguments: { k: "ngram_overlap" },
  options: [
    { name: "ns", keyword: "ns", type: "checks", choices: [1, 2, 3, 4], value: [1, 2, 3, 4] },
    { name: "unit", keyword: "analyzer", type: "choice", choices: ["word", "char"], value: "word" },
    { name: "sigma", keyword: "sigma", type: "number", value: 0 },
  ],
};
const UNSET = { kernel: "ngram_overlap", q: null, options: {}, arguments: "" };

test("call contains the kernel, changed options and a changed order", () => {
  assert.equal(written(KERNEL, UNSET), 'k="ngram_overlap", ns=[1, 2, 3, 4]');
  const options = { ngram_overlap: { ns: [1], unit: "char", sigma: 0.5 } };
  assert.equal(
    written(KERNEL, { ...UNSET, q: 2, options }),
    'k="ngram_overlap", ns=[1], analyzer="char", sigma=0.5, q=2',
  );
  assert.equal(written(undefined, UNSET), "");
});

test("values are written in Python", () => {
  assert.equal(literal([true, false, null, 1.5, "a\"b"]), '[True, False, None, 1.5, "a\\"b"]');
});

test("magnitude is computed by the kernel, of vectors by their distances", () => {
  assert.equal(
    magnitude(KERNEL, { ...UNSET, q: 2 }, false),
    'k="ngram_overlap", ns=[1, 2, 3, 4], measures=["MagArea", "t_conv"], t_cut="t_conv"',
  );
  const cosine = { kernel: "cosine", arguments: { k: "cosine" }, options: [] };
  assert.equal(magnitude(cosine, UNSET, true), 'measures=["MagArea", "t_conv", "MagDiff"]');
});
