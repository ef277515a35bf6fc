/** What is written into the address and into this browser tab, and how it comes back. */

import { now, page } from "./page.js";
import { KINDS, keep, toHash } from "./state.js";

let writing = 0;

export function writeHash() {
  clearTimeout(writing);
  writing = setTimeout(write, 300);
}

function write() {
  clearTimeout(writing);
  history.replaceState({ tab: page.tab }, "", hash());
}

/** A turn to another tab, which Back undoes. */
export function step(turn) {
  write();
  const from = page.tab;
  turn();
  if (page.tab !== from) history.pushState({ tab: page.tab }, "", hash());
}

function hash() {
  const { tab, settings, sets, thresholds, givens } = page;
  const { kernel, options, q } = settings[tab];
  const { example, prompt } = givens[tab] ?? sets;
  const threshold = thresholds[tab];
  return toHash({ tab, kernel, options: options[kernel], q, example, threshold, prompt });
}

/** Keeps what is given and set on all tabs, and the result of this one. */
export function remember(shown) {
  const { tab, chosen, settings, thresholds, lent, sets } = page;
  const givens = Object.fromEntries(KINDS.map((kind) => [kind, page.givens[kind].snapshot()]));
  const entry = shown.of(tab);
  const result = entry && { ...entry, stale: now(tab).data !== entry.of.data };
  // A reload is of the address as it was before its last changes were written.
  const state = { was: location.hash, tab, chosen, settings, thresholds, lent };
  write();
  keep({ hash: hash(), ...state, givens, sets: sets.snapshot(), result });
}

/** What was here before a reload; its result, unless the address has become another. */
export function restore(record, link, shown) {
  const { chosen, thresholds, lent } = record;
  Object.assign(page, { chosen, thresholds, lent });
  Object.assign(page.settings, record.settings);
  for (const kind of KINDS) page.givens[kind].restore(record.givens[kind]);
  page.sets.restore(record.sets);
  if (record.result && (!link || record.hash === location.hash)) {
    const { answer, of, stale } = record.result;
    shown.put(record.tab, answer, { ...of, data: stale ? "" : now(record.tab).data });
  }
}
