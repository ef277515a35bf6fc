/** Sets side by side: their matrix or their bars, how sure it is, what only one of them has. */

import { card } from "./bar.js";
import { count, cut, dotted, el, isNumber, score, signed } from "../dom.js";
import { copied, figures, lines } from "./figures.js";
import { table } from "./heads.js";
import { matrix } from "./matrix.js";
import { menu } from "./menu.js";
import { more } from "./more.js";
import { inFull } from "./sample.js";
import { copyText, csv, save, saveJson } from "./saves.js";
import { copying } from "./share.js";
import { sources } from "./sources.js";
import { called } from "./view.js";

const NAMED = 4; // sets in the bar
const SEEN = 3; // samples of a set that are seen at first

/**
 * Makes everything of a comparison.
 * @param {View<Compared>} view
 */
export function comparison(view) {
  return [top(view), ...parts(view)].filter((part) => part !== null);
}

/**
 * Makes what stands beneath the bar; a report has all rows.
 * @param {View<Compared>} view
 * @param {number} [first]
 */
function parts(view, first) {
  const C = view.R;
  const sure = [
    ...C.verdicts.map((verdict) => el("p", {}, verdict)),
    sets(C),
    pairs(C),
    ...C.notes.map((note) => el("p", { class: "r-small" }, note)),
  ];
  return [
    el("section", {}, el("p", { class: "r-sentence" }, C.sentence)),
    matrix(view, first) ?? figures(view, C.pictures),
    folded("How sure?", "", sure),
    sources(view, folded),
    only(view),
    folded("Python and signature", "", [
      ...lines(view, C),
      C.sources ? copied(view, "Signature of the number of different sets", C.sources.signature) : null,
    ]),
  ];
}

/**
 * Makes a section that a click opens; its `kind` finds it.
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
    ["Report (HTML)", () => save(report(view), "vendiscore-report.html", "text/html"), "words and pictures in one file"],
    ["Sets (CSV)", () => save(csv(setRows(C)), "vendiscore-sets.csv", "text/csv"), "scores and intervals"],
    ["Differences (CSV)", () => save(csv(pairRows(C)), "vendiscore-differences.csv", "text/csv"), "with intervals and p"],
    ["Everything (JSON)", () => saveJson(C), "all numbers, for programs"],
  ]);
  const sides = C.rows.slice(0, NAMED).map(({ name, matched }) => el(
    "span",
    {},
    el("bdi", {}, cut(name, 24)),
    " ",
    el("b", {}, score(matched)),
    " ",
  ));
  if (C.rows.length > NAMED) sides.push(el("span", {}, `and ${count(C.rows.length - NAMED)} more`));
  const matched = C.within
    ? `effective answers to a prompt, mean of ${count(C.within)}`
    : `effectively different of ${count(C.matched_size)} each`;
  return card(
    view,
    el("h2", { class: "r-sides" }, ...sides),
    el("p", { class: "r-about" }, dotted(matched, C.comparison)),
    el("div", { class: "r-tools" }, share, take),
  );
}

/**
 * Writes all there is to see as one file, with the style of the page.
 * @param {View<Compared>} view
 */
function report(view) {
  const title = view.R.rows.map(({ name }) => name).join(", ");
  const body = el("main", { class: "r" }, el("h1", {}, title), el("p", {}, view.R.comparison), ...parts(view, Infinity));
  for (const details of body.querySelectorAll("details")) details.open = true;
  for (const node of body.querySelectorAll(".r-menu, .r-more, .r-copy .r-button")) node.remove();
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
 * Writes a row for each set.
 * @param {Compared} C
 * @returns {Cell[][]}
 */
function setRows({ rows, matched_size: size }) {
  return [
    ["set", "n", "VS", "VS_se", "matched_size", "VS_matched", "VS_matched_se", "VS_matched_low", "VS_matched_high"],
    ...rows.map((row) => [
      row.name, row.n, row.VS, row.se, size, row.matched, row.matched_se, row.low, row.high,
    ]),
  ];
}

/**
 * Writes a row for each two sets.
 * @param {Compared} C
 * @returns {Cell[][]}
 */
function pairRows({ pairs: found }) {
  return [
    ["a", "b", "difference", "low", "high", "level", "p", "verdict"],
    ...found.map(({ a, b, difference, low, high, level, p, verdict }) => [
      a, b, difference, low, high, level, p, verdict,
    ]),
  ];
}

/** @param {Compared} C */
function sets({ rows, matched_size: size, within, level }) {
  const same = within
    ? `as many samples of each set in a group, the mean of ${count(within)} groups`
    : `${count(size)} samples of each set`;
  /** @param {SetRow} row */
  const line = ({ name, n, VS, matched, low, high }) => [
    name, count(n), score(VS), score(matched), range(low, high),
  ];
  return table(
    "Scores of the sets",
    `A larger set scores higher for its size alone: “matched” is of ${same}, drawn at random.`,
    [["set"], ["samples"], ["whole"], ["matched"], [`${percent(level)} interval`]],
    rows.map(line),
  );
}

/** @param {Compared} C */
function pairs({ pairs: found }) {
  const lowest = found.some(({ p, p_floor: floor }) => atFloor(p, floor));
  /** @param {PairRow} row */
  const line = ({ a, b, difference, low, high, p, p_floor: floor }) => [
    `${a} − ${b}`, signed(score(difference)), range(low, high), chance(p, floor),
  ];
  return table(
    "Differences between the sets",
    `p is how often sets differ as much once their samples are exchanged at random${lowest ? "; ≤ marks the smallest that so many exchanges can give" : ""}. Intervals hold for all pairs together.`,
    [["pair"], ["difference"], [`${percent(found[0].level)} interval`], ["p"]],
    found.map(line),
  );
}

/**
 * @param {number | null} low
 * @param {number | null} high
 */
function range(low, high) {
  return isNumber(low) && isNumber(high) ? `${signed(score(low))} to ${signed(score(high))}` : "–";
}

/**
 * @param {number} p
 * @param {number | null} floor
 */
function chance(p, floor) {
  if (!Number.isFinite(p)) return "–";
  return `${atFloor(p, floor) ? "≤ " : ""}${Number(p).toPrecision(p < 0.001 ? 1 : 2)}`;
}

/**
 * @param {number} p
 * @param {number | null} floor
 */
function atFloor(p, floor) {
  return p <= (floor ?? 0) * (1 + 1e-9);
}

/**
 * Writes a level with one digit, such as 98.3 %.
 * @param {number} level
 */
function percent(level) {
  return `${Number((100 * level).toFixed(1))} %`;
}

/**
 * Lists what the others have least of, one set near the other.
 * @param {View<Compared>} view
 */
function only(view) {
  const every = view.R.only;
  const found = every.filter(({ samples }) => samples.length);
  const none = every.filter(({ samples }) => !samples.length).map(({ name }) => cut(name, 40));
  const share = Math.max(0, ...found.flatMap(({ samples }) => samples.map((each) => each.false)));
  /** @param {Compared["only"][number]} set */
  const list = ({ name, samples }) => el("div", { class: "r-only" },
    el("h4", {}, "Only in ", el("bdi", {}, name)),
    el(
      "ul",
      { class: "r-members" },
      ...more(
        samples.map((sample) => () => item(view, sample)),
        "samples",
        (button) => el("li", {}, button),
        SEEN,
      ),
    ));
  return folded("Samples that only one set has", "", [
    found.length ? el("p", { class: "r-small" }, `Least like anything in the other sets, more so than in shuffled sets; chance would list ${share < 0.01 ? "less than 1" : `about ${Math.round(100 * share)}`} % of them.`) : null,
    el("div", { class: "r-pictures" }, ...found.map(list)),
    none.length ? el("p", { class: "r-small" }, `No sample of ${none.join(", ")} is listed: none stands out more than in random parts of all sets.`) : null,
  ]);
}

/**
 * @param {View<Compared>} view
 * @param {Distinctive} sample
 */
function item(view, sample) {
  const name = called(sample.place);
  return el(
    "li",
    {},
    el("span", { class: "r-tag" }, sample.times > 1 ? `${name} · ${count(sample.times)} ×` : name),
    inFull(view, sample, sample.text ? "" : name),
  );
}
