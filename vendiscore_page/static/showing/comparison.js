/** Sets side by side: their matrix or their bars, their map, and how sure it is. */

import { card } from "./bar.js";
import { count, cut, dotted, el, score, scoreKey, total } from "../dom.js";
import { copied, figures, lines } from "./figures.js";
import { rowsOf, table } from "./heads.js";
import { contrast, matrix } from "./matrix.js";
import { menu } from "./menu.js";
import { more } from "./more.js";
import { quality } from "./quality.js";
import { copyText, csv, save, saveJson, unused } from "./saves.js";
import { copying } from "./share.js";
import { setMap } from "./set_map.js";
import { sources } from "./sources.js";

const NAMED = 4; // sets in the bar
// What a file has no use for, and pictures that were never in sight.
const GONE = ".r-menu, .r-more, .r-copy .r-button, .r-filter, .r-hover, img[src^='data:image/gif']";
const SENTENCES = 6; // that are seen at first

/**
 * Makes everything of a comparison.
 * @param {View<Compared>} view
 */
export function comparison(view) {
  return [top(view), ...parts(view)].filter((part) => part !== null);
}

/**
 * @param {View<Compared>} view
 * @param {number} [first]
 */
function parts(view, first) {
  const C = view.R;
  const sure = [
    ...more(C.verdicts.map((verdict) => () => el("p", {}, verdict)), "sentences", undefined, SENTENCES),
    table(
      "Scores of the sets",
      `Larger sets have higher scores. Therefore “matched”, “low” and “high” are computed from random subsets of equal size${C.within ? " in each group" : ""}.`,
      setRows(C),
    ),
    table(
      "Differences between the sets",
      "p is the proportion of random permutations of the set labels with a difference at least as large as the observed one. The confidence level of the intervals applies to all pairs together. A set is called more diverse if both p and the interval show it.",
      pairRows(C),
    ),
    ...C.notes.map((note) => el("p", { class: "r-small" }, note)),
  ];
  return [
    el("section", { class: "r-verdicts" }, el("p", { class: "r-sentence" }, C.sentence), missing(C)),
    quality(view, first),
    contrast(view),
    matrix(view, first) ?? figures(view, C.pictures),
    setMap(view),
    folded("Uncertainty and notes", "", sure),
    sources(view, folded),
    folded("Python code and signature for citing", "", [
      ...lines(view, C),
      C.sources ? copied(view, "Signature of the effective number of sets", C.sources.signature) : null,
    ]),
  ];
}

/** @param {Compared} C */
function missing({ missing_cells: cells, within, rows }) {
  if (!cells) return null;
  const all = count((within ?? 0) * rows.length);
  return el("p", { class: "r-small" }, `${count(cells)} of ${all} combinations of a set and a prompt have fewer than two samples. The scores are adjusted for these missing cells by the additive model log VS = set + prompt.`);
}

/**
 * @param {string} title
 * @param {string} kind
 * @param {(Child)[]} children
 */
function folded(title, kind, children) {
  return el("section", {},
    el("details", { class: `r-details ${kind}` },
      el("summary", {}, el("h3", {}, title)),
      el("div", { class: "r-papers" }, ...children)));
}

/** @param {View<Compared>} view */
function top(view) {
  const C = view.R;
  const share = menu("Share", "Share this comparison", [
    copying(view, "sentences", () => copyText(C.verdicts.join("\n")), "select them below"),
  ]);
  const take = menu("Download", "Download", [
    ["Report (HTML)", () => save(report(view), "vendiscore-report.html", "text/html"), "text and figures in one file"],
    ["Sets (CSV)", () => save(csv(setRows(C)), "vendiscore-sets.csv", "text/csv"), "scores and intervals"],
    ["Differences (CSV)", () => save(csv(pairRows(C)), "vendiscore-differences.csv", "text/csv"), "with intervals and p-values"],
    ["Rows (CSV)", () => save(csv(ownRows(C)), "vendiscore-rows.csv", "text/csv"), "your columns and the set of each sample"],
    ["Everything (JSON)", () => saveJson(C), "all results in machine-readable form"],
  ]);
  const size = C.missing_cells ? 0 : C.matched_size / (C.within || 1);
  const all = size && ` of ${total(size)} `;
  const sides = C.rows.slice(0, NAMED).map(({ name, matched }) => el("span", {},
    el("bdi", {}, cut(name, 24)), " ", el("b", {}, score(matched)), all || " "));
  if (C.rows.length > NAMED) sides.push(el("span", {}, `and ${count(C.rows.length - NAMED)} more`));
  const matched = `effective number, ${C.within ? `mean over ${count(C.within)} prompts` : `computed for ${count(C.matched_size)} samples of each set`}`;
  return card(
    view,
    el("h2", { class: "r-finding" }, C.finding),
    el("p", { class: "r-sides" }, ...sides),
    el("p", { class: "r-about" }, dotted(matched, C.comparison)),
    el("div", { class: "r-tools" }, share, take),
  );
}

/** @param {View<Compared>} view */
function report(view) {
  const title = view.R.rows.map(({ name }) => name).join(", ");
  const body = el("main", { class: "r" }, el("h1", {}, title), el("p", {}, view.R.comparison), ...parts(view, Infinity));
  for (const details of body.querySelectorAll("details")) details.open = true;
  for (const node of body.querySelectorAll(GONE)) node.remove();
  for (const button of body.querySelectorAll("button")) {
    const words = el("span", {}, ...button.childNodes);
    words.style.cssText = button.style.cssText;
    button.replaceWith(words);
  }
  const rules = [...document.styleSheets].flatMap(({ cssRules }) => [...cssRules]);
  const style = el("style", {}, rules.map(({ cssText }) => cssText).join("\n"));
  const head = el("head", {}, el("title", {}, title), style).innerHTML;
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">${head}</head><body>${body.outerHTML}</body></html>\n`;
}

/**
 * @param {Compared} C
 * @returns {Cell[][]}
 */
function ownRows({ map: { set, place, text = [], name, cells } }) {
  /** @type {[string, Cell[]][]} */
  const samples = [["place", place], ["sample", text], ...(name ? [/** @type {[string, Cell[]]} */ (["name", name])] : [])];
  const own = cells.length ? cells : samples;
  /** @type {[string, Cell[]][]} */
  const columns = [...own, [unused("set", own.map(([column]) => column)), set]];
  return [columns.map(([name]) => name), ...set.map((_, i) => columns.map(([, column]) => column[i]))];
}

/** @param {Compared} C */
const setRows = ({ rows, matched_size: size }) => rowsOf(
  rows.map(({ name: set, ...row }) => ({ set, size, ...row })),
  [
    ...["set", "n", ...(rows.some(({ n_per_group }) => n_per_group) ? ["n_per_group"] : [])],
    ...[scoreKey(rows[0]), "se", "size", "matched", "matched_se", "low", "high"],
  ],
);

/** @param {Compared} C */
const pairRows = ({ pairs }) => rowsOf(pairs, ["a", "b", "difference", "low", "high", "level", "p", "verdict"]);
