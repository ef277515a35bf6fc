/** A question to a table: its samples are read as it needs, and scored or compared. */

import { reveal } from "../dom.js";
import { byId } from "./parts.js";

// Where the result answers it.
/** @type {Record<string, string>} */
const ANSWERS = { clusters: ".r-groups", quality: ".r-quality", sources: ".r-sources", subset: ".r-subset > details" };

/**
 * Asks a question of the server's; `score()` gives the result, `compare(options, then)` of sets.
 * @param {AskerPage} page
 * @returns {Asker}
 */
export function asker({ current, score, compare }) {
  /** @param {string} show */
  const answer = async (show) => {
    await score();
    if (show) requestAnimationFrame(() => found(show));
  };
  return ({ options, compares, show }) => {
    if (compares) return compare(options, () => answer(show));
    const given = current();
    if (!given.isReadBy(options)) given.ask(options);
    return answer(show);
  };
}

/**
 * Brings the part of the result that answers into sight, and opens it.
 * @param {string} show
 */
function found(show) {
  const part = byId("result").querySelector(ANSWERS[show]);
  if (part instanceof HTMLDetailsElement) part.open = true;
  const section = part?.closest("section");
  if (section) reveal(section);
  part?.querySelector("input")?.select();
}
