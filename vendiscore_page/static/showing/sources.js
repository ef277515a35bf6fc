/** The number of sets that effectively differ: as sources of answers to prompts, or as wholes. */

import { alike, el, isNumber, score, signed } from "../dom.js";
import { figures, copied } from "./figures.js";
import { heads } from "./heads.js";
import { inFull } from "./sample.js";

/**
 * Makes the section; null where sources were not counted.
 * @param {View<Compared>} view
 * @param {(label: string, table: HTMLTableElement) => HTMLElement} wide
 */
export function sources(view, wide) {
  const S = view.R.sources;
  if (!S) return null;
  return el("section", { class: "r-sources" },
    el("h3", {}, `How many different ${S.what}?`),
    el("p", { class: "r-sentence" }, S.sentence),
    el("p", {}, ...pair("The nearest are", S.nearest),
      ...(S.sources.length > 2 ? pair(" The farthest are", S.farthest) : [])),
    ...S.notes.map((note) => el("p", { class: "r-small" }, note)),
    S.pictures.length ? figures(view, S.pictures) : null,
    wide(`Different ${S.what}`, table(S)),
    prompts(view, "Prompts that tell them apart most", S.most, S.sources.length),
    prompts(view, "Prompts that tell them apart least", S.least, S.sources.length),
    el("details", { class: "r-details" }, el("summary", {}, el("h4", {}, "The same in Python")),
      el("div", { class: "r-papers" },
        copied(view, "Python of this number", S.code),
        copied(view, "Signature of this number", S.signature))));
}

/**
 * @param {string} words
 * @param {SourcePair} pair
 */
function pair(words, { a, b, similarity }) {
  const at = ` (${alike(similarity)}).`;
  return [`${words} `, el("bdi", {}, a), " and ", el("bdi", {}, b), at];
}

/** @param {Sources} S */
function table({ sources: rows }) {
  const several = rows.some(({ within }) => Number.isFinite(within));
  /** @param {Sources["sources"][number]} row */
  const line = ({ name, adds, nearest, similarity, within }) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, name)),
    el("td", { class: "r-digits" }, signed(Number(adds).toFixed(2))),
    el("td", {}, el("bdi", {}, nearest)),
    el("td", { class: "r-digits" }, alike(similarity)),
    several ? el("td", { class: "r-digits" }, isNumber(within) ? alike(within) : "–") : null);
  /** @type {Head[]} */
  const columns = [
    ["name"],
    ["adds", "r-digits", "how much smaller the number is without this one"],
    ["nearest"],
    ["similarity", "r-digits", "to the nearest; 1 means the same"],
  ];
  if (several) columns.push(["within", "r-digits", "mean similarity of two of its own answers"]);
  return el("table", { class: "r-table r-plain" },
    heads(...columns),
    el("tbody", {}, ...[...rows].sort((a, b) => b.adds - a.adds).map(line)));
}

/**
 * @param {View<Compared>} view
 * @param {string} title
 * @param {SourcePrompt[]} rows
 * @param {number} n
 */
function prompts(view, title, rows, n) {
  if (!rows.length) return null;
  /** @param {SourcePrompt} row */
  const item = ({ prompt, VS }) => el("li", {},
    el("span", { class: "r-tag" }, `${score(VS)} of ${n}`),
    inFull(view, { text: prompt }));
  return el("div", { class: "r-only" }, el("h4", {}, title),
    el("ul", { class: "r-members" }, ...rows.map(item)));
}
