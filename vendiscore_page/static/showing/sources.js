/** The number of sets that effectively differ: as sources of answers to prompts, or as wholes. */

import { el, score, vendi } from "../dom.js";
import { rowsOf, table } from "./heads.js";
import { inFull } from "./sample.js";

const HEADS = ["name", "contribution", "nearest", "similarity", "within"];

/**
 * Makes the section; null where sources were not counted.
 * @param {View<Compared>} view
 * @param {(title: string, kind: string, children: Child[]) => HTMLElement} folded
 */
export function sources(view, folded) {
  const S = view.R.sources;
  if (!S) return null;
  const n = S.sources.length;
  return folded(`Effective number of ${S.what}: ${score(vendi(S))} of ${n}`, "r-sources", [
    el("p", {}, S.sentence),
    ...S.notes.map((note) => el("p", { class: "r-small" }, note)),
    table(
      `Contributions of the ${S.what}`,
      "contribution: decrease of the effective number without this source. similarity: to the nearest source, 1 if identical. within: mean similarity of two answers of this source to the same prompt.",
      [HEADS, ...rowsOf(S.sources, ["name", "adds", "nearest", "similarity", "within"]).slice(1)],
    ),
    S.most.length ? el("h4", {}, "Prompts with the most different answers") : null,
    el("ul", { class: "r-members" }, ...S.most.map((row) => el("li", {},
      el("span", { class: "r-tag" }, `${score(vendi(row))} of ${n}`),
      inFull(view, { text: row.prompt })))),
  ]);
}
