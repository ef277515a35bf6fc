/** The number of sets that effectively differ: as sources of answers to prompts, or as wholes. */

import { el, score, vendi } from "../dom.js";
import { rowsOf, table } from "./heads.js";
import { inFull } from "./sample.js";

/**
 * Makes the section; null where sources were not counted.
 * @param {View<Compared>} view
 * @param {(title: string, kind: string, children: Child[]) => HTMLElement} folded
 */
export function sources(view, folded) {
  const S = view.R.sources;
  if (!S) return null;
  const n = S.sources.length;
  return folded(`How many different ${S.what}? ${score(vendi(S))} of ${n}`, "r-sources", [
    el("p", {}, S.sentence),
    ...S.notes.map((note) => el("p", { class: "r-small" }, note)),
    table(
      `Different ${S.what}`,
      "adds: how much smaller the number is without it. Similarities: 1 means the same; within, of two of its own answers.",
      rowsOf(S.sources, ["name", "adds", "nearest", "similarity", "within"]),
    ),
    S.most.length ? el("h4", {}, "Prompts that tell them apart most") : null,
    el("ul", { class: "r-members" }, ...S.most.map((row) => el("li", {},
      el("span", { class: "r-tag" }, `${score(vendi(row))} of ${n}`),
      inFull(view, { text: row.prompt })))),
  ]);
}
