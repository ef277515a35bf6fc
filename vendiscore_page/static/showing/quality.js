/** Equal quality: the parts of a difference that are due to correct answers and to failures. */

import { count, el, signed } from "../dom.js";
import { table } from "./heads.js";
import { more } from "./more.js";

const MEANS = "Differences are in log VS of the same number of answers to each prompt; −0.1 means about 10 % fewer effective answers. The total is the sum of the difference among correct answers and of the difference from failures.";
const SENTENCES = 3; // that are seen at first
const HEADS = ["sets", "answers per prompt", "prompts", "total", "among correct answers", "from failures"];

/**
 * Makes the section; null where no column of correct answers was selected.
 * @param {View<Compared>} view
 * @param {number} [first]
 */
export function quality({ R }, first = SENTENCES) {
  const { quality: Q } = R;
  if (!Q) return null;
  const from = Q.min_quality === null ? "" : `, at least ${Q.min_quality}`;
  const rows = Q.parts.map((parts) => [
    `${parts.a} − ${parts.b}`,
    parts.size,
    `${count(parts.prompts)} of ${count(parts.all_prompts)}`,
    interval(parts.total, parts.total_low, parts.total_high),
    interval(parts.among_correct, parts.among_correct_low, parts.among_correct_high),
    interval(parts.from_failures, parts.from_failures_low, parts.from_failures_high),
  ]);
  const sentences = Q.parts.map(({ sentence }) => () => el("p", {}, sentence));
  return el("section", { class: "r-quality" },
    el("h3", {}, "Correct answers ", el("span", { class: "r-small" }, `column “${Q.column}”${from}`)),
    el("div", { class: "r-papers" },
      Q.problem ? el("p", {}, `Correct answers could not be compared: ${Q.problem}.`) : null,
      ...more(sentences, "sentences", undefined, first),
      rows.length ? table("Parts of the differences", MEANS, [HEADS, ...rows]) : null));
}

/**
 * @param {number} value
 * @param {number | null} low
 * @param {number | null} high
 */
function interval(value, low, high) {
  const [number, from, to] = [value, low, high].map((each) => signed(Number(each).toFixed(2)));
  return low === null || high === null ? number : `${number} (${from} to ${to})`;
}
