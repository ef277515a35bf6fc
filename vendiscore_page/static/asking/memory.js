/** The state in the address and in this browser tab: it is written, and it comes back. */

import { now, page, subjectOf } from "./page.js";
import { KINDS, keep, toHash } from "./state.js";

/** @type {ReturnType<typeof setTimeout> | undefined} */
let writing;

export function writeHash() {
  clearTimeout(writing);
  writing = setTimeout(write, 300);
}

function write() {
  clearTimeout(writing);
  history.replaceState({ tab: page.tab }, "", hash());
}

/**
 * Turns to another tab, which Back undoes.
 * @param {() => void} turn
 */
export function step(turn) {
  write();
  const from = page.tab;
  turn();
  if (page.tab !== from) history.pushState({ tab: page.tab }, "", hash());
}

function hash() {
  const { tab, settings, thresholds } = page;
  const { options, q, arguments: text } = settings[tab];
  const kernel = (page.example?.tabs?.includes(tab) && page.lent[tab]) || settings[tab].kernel;
  const { example, prompt } = subjectOf(tab);
  const threshold = thresholds[tab];
  const set = { kernel, options: options[kernel], q, arguments: text };
  return toHash({ tab, ...set, example, threshold, prompt });
}

/**
 * Keeps the samples and settings of all tabs, and the result of this one.
 * @param {Shown} shown
 */
export function remember(shown) {
  const { tab, chosen, settings, thresholds, lent, sets } = page;
  const pairs = KINDS.map((kind) => [kind, page.givens[kind].snapshot()]);
  const givens = /** @type {Kept["givens"]} */ (Object.fromEntries(pairs));
  const entry = shown.of(tab);
  const result = entry && { ...entry, stale: now(tab).data !== entry.of.data };
  const was = location.hash; // a reload is of the address before its last changes were written
  write();
  const state = { was, hash: hash(), tab, chosen, settings, thresholds, lent };
  keep({ ...state, givens, sets: sets.snapshot(), result });
}

/**
 * Brings back what was here before a reload; its result, unless the address is another one.
 * @param {Kept} record
 * @param {Link | null} link
 * @param {Shown} shown
 */
export function restore(record, link, shown) {
  const { chosen, thresholds, lent, settings, givens, sets, result, tab } = record;
  Object.assign(page, { chosen, thresholds, lent, settings });
  for (const kind of KINDS) page.givens[kind].restore(givens[kind]);
  page.sets.restore(sets);
  if (!result || (link && record.hash !== location.hash)) return;
  const { answer, of, stale } = result;
  shown.put(tab, answer, { ...of, data: stale ? "" : now(tab).data });
}
