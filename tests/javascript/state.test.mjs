import assert from "node:assert/strict";
import { test } from "node:test";

import { fromHash, keep, kept, optionsOf, toHash } from "../../vendiscore_page/static/asking/state.js";

const STATE = {
  tab: "texts",
  kernel: "ngram_overlap",
  options: { ns: "1,2", case: "a&b = c" },
  q: 0,
  arguments: 'k="rbf", measures=["VS", "IntDiv"]',
  example: "Poems & prose",
  threshold: 0.85,
  prompt: "Write a line,\nplease: 100 %",
};

test("address restores the state", () => {
  assert.deepEqual(fromHash(toHash(STATE)), STATE);
  assert.match(toHash(STATE), /o\.ns=1,2&/);
});

test("address omits default settings", () => {
  assert.equal(toHash({ tab: "compare", q: null, options: {} }), "#kind=compare");
  const unset = { kernel: "", options: {}, q: null, arguments: "", example: "", threshold: null, prompt: "" };
  assert.deepEqual(fromHash("#kind=compare"), { tab: "compare", ...unset });
});

test("address omits a prompt longer than 1,000 characters", () => {
  assert.equal(fromHash(toHash({ ...STATE, prompt: "x".repeat(1000) })).prompt.length, 1000);
  assert.equal(fromHash(toHash({ ...STATE, prompt: "x".repeat(1001) })).prompt, "");
});

test("address omits arguments longer than 1,000 characters", () => {
  assert.equal(fromHash(toHash({ ...STATE, arguments: "x".repeat(1000) })).arguments.length, 1000);
  assert.equal(fromHash(toHash({ ...STATE, arguments: "x".repeat(1001) })).arguments, "");
});

test("address with other keys or invalid numbers is ignored", () => {
  for (const text of ["", "#", "#result", "#kind=songs"]) assert.equal(fromHash(text), null);
  assert.equal(fromHash("#kind=texts&q=-1").q, null);
  assert.equal(fromHash("#kind=texts&q=two").q, null);
  assert.equal(fromHash("#kind=texts&q=0.5").q, 0.5);
});

const KERNEL = {
  options: [
    { name: "ns", type: "checks", choices: [1, 2, 3, 4], value: [1, 2, 3, 4] },
    { name: "units", type: "choice", choices: ["words", "characters"], value: "words" },
    { name: "sigma", type: "number", value: 1.5 },
  ],
};

test("missing options have default values", () => {
  const usual = { ns: [1, 2, 3, 4], units: "words", sigma: 1.5 };
  assert.deepEqual(optionsOf(KERNEL), usual);
  assert.deepEqual(optionsOf(KERNEL, { other: 7 }), usual);
  assert.deepEqual(optionsOf(undefined), {});
});

test("options from an address are converted to their types", () => {
  const chosen = { ns: "2,1,9", units: "characters", sigma: "0.25" };
  assert.deepEqual(optionsOf(KERNEL, chosen), { ns: [1, 2], units: "characters", sigma: 0.25 });
  assert.deepEqual(optionsOf(KERNEL, { ns: [3] }).ns, [3]);
  assert.equal(optionsOf(KERNEL, { units: "lines" }).units, "words");
  assert.equal(optionsOf(KERNEL, { sigma: "-3" }).sigma, 1.5);
});

/** A storage that takes texts up to a length. */
function storage(room) {
  const items = new Map();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem(name, text) {
      if (text.length > room) throw new DOMException("full", "QuotaExceededError");
      items.set(name, text);
    },
  };
}

test("stored record is restored, without its result if storage is full", (context) => {
  const record = { tab: "texts", result: "x".repeat(100) };
  const before = Object.getOwnPropertyDescriptor(globalThis, "sessionStorage");
  context.after(() => {
    if (before) Object.defineProperty(globalThis, "sessionStorage", before);
    else delete globalThis.sessionStorage;
  });
  const found = [1000, 60, 5].map((room) => {
    const value = storage(room);
    Object.defineProperty(globalThis, "sessionStorage", { value, configurable: true });
    keep(record);
    return kept();
  });
  assert.deepEqual(found, [record, { tab: "texts", result: null }, null]);
});
