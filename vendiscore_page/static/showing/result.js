/** Everything inside #result: put together from a result R or a comparison C of the server. */

import { bar, summary } from "./bar.js";
import { comparison } from "./comparison.js";
import { count, el, error, find, isNumber, score, total, vendi } from "../dom.js";
import { groups } from "./groups.js";
import { heads } from "./heads.js";
import { papers } from "./papers.js";
import { phrases } from "./phrases.js";
import { table } from "./table.js";
import { themes } from "./themes.js";
import { spokenValues, values } from "./values.js";
import { makeView } from "./view.js";

const UNFOLDED = 12; // groups that are seen without a click
const SETS = 8; // that can be compared, of at least
const LEAST = 4; // samples each
/** @type {WeakMap<HTMLElement, AbortController>} */
const lives = new WeakMap();

/**
 * Shows a result.
 * @param {HTMLElement} container
 * @param {Result} R
 * @param {Line} tools
 */
export function show(container, R, tools) {
  const view = makeView(R, tools, renewed(container));
  // Whoever keeps the result over a reload keeps these groups, too.
  view.on(
    "groups",
    (answer) => container.dispatchEvent(new CustomEvent("threshold", { bubbles: true, detail: answer })),
  );
  const compare = () => container.dispatchEvent(new CustomEvent("compare"));
  container.append(...[
    bar(view),
    summary(view),
    rowsOf(R.by_set, { one: "set", what: R.what, compare }),
    rowsOf(R.by_group, { one: "group", what: R.what, compare: R.by_set ? null : compare }),
    groups(view),
    themes(view),
    phrases(view),
    table(view),
    papers(view),
  ].filter((part) => part !== null));
  view.announce(spoken(R));
}

/** @param {Result} R */
function spoken(R) {
  const { n, se, of, by_group: groups, what, typical, sentence } = R;
  if (n < 2) return sentence;
  const beside = error(se) && `, plus or minus ${error(se)},`;
  const all = groups ? `${score(of)} ${what} per group` : `${count(n)} ${what}`;
  return `Effective number: ${score(vendi(R))}${beside} of ${all}. ${typical}`.trim();
}

/**
 * Shows a comparison of sets.
 * @param {HTMLElement} container
 * @param {Compared} C
 * @param {Line} tools
 */
export function showComparison(container, C, tools) {
  const view = makeView(C, tools, renewed(container));
  container.append(...comparison(view));
  view.announce(C.sentence);
}

/**
 * Shows all values of a call that was edited as text.
 * @param {HTMLElement} container
 * @param {Values} V
 * @param {Line} tools
 */
export function showValues(container, V, tools) {
  const view = makeView(V, tools, renewed(container));
  container.append(...values(view).filter((part) => part !== null));
  view.announce(spokenValues(V));
}

/**
 * Marks what is shown as out of date; with "" it is up to date again.
 * @param {HTMLElement} container
 * @param {string} text
 */
export function markOld(container, text) {
  container.classList.toggle("r-old", text !== "");
  const was = find(container, ".r-was");
  if (!was) return;
  was.textContent = text;
  was.hidden = text === "";
}

/**
 * Takes everything away.
 * @param {HTMLElement} container
 */
export function clear(container) {
  lives.get(container)?.abort();
  lives.delete(container);
  container.replaceChildren();
  container.classList.remove("r", "r-old");
}

/** @param {HTMLElement} container */
function renewed(container) {
  clear(container);
  container.classList.add("r");
  const life = new AbortController();
  lives.set(container, life);
  return life.signal;
}

/**
 * Shows a row for each set or group, by descending score; `compare()` compares them, if they can be.
 * @param {GroupRow[] | null} rows
 * @param {{one: string, what: string, compare: (() => void) | null}} of
 */
function rowsOf(rows, { one, what, compare }) {
  if (!rows?.length) return null;
  const most = Math.max(...rows.map(vendi), 1);
  const sorted = [...rows].sort((a, b) => vendi(b) - vendi(a));
  const intervals = rows.some(({ low }) => isNumber(low));
  const more = /** @type {Head[]} */ (intervals ? [["interval", "r-digits"]] : []);
  /** @param {string} words */
  const digits = (words) => el("td", { class: "r-digits" }, words);
  /** @param {GroupRow} row */
  const line = (row) => {
    const { group, n, of, low, high } = row;
    const fill = el("i", { class: "r-fill" });
    fill.style.width = `${(100 * vendi(row)) / most}%`;
    const meter = el("div", { class: "r-meter", "aria-hidden": "true" }, fill);
    const interval = isNumber(low) && isNumber(high) ? `${score(low)} – ${score(high)}` : "–";
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("bdi", {}, group)),
      digits(total(of ?? n)),
      digits(score(vendi(row))),
      intervals ? digits(interval) : null,
      el("td", { class: "r-interval-cell" }, meter),
    );
  };
  const few = rows.length > 1 && rows.length <= SETS && rows.every(({ n }) => n >= LEAST);
  const face = { type: "button", class: "r-button", onclick: compare ?? undefined };
  const across = { tabindex: 0, role: "region", "aria-label": `Table of the ${one}s` };
  const title = el("h3", {}, `Scores of your ${count(rows.length)} ${one}s`);
  const samples = rows.some(({ of }) => of) ? `${what} per group` : what;
  const parts = [
    compare && few ? el("p", {}, el("button", face, `Compare these ${count(rows.length)} ${one}s`)) : null,
    el(
      "div",
      { class: "r-scroll r-low", ...across },
      el(
        "table",
        { class: "r-table r-plain" },
        heads([one], [samples, "r-digits"], ["score", "r-digits"], ...more, ["", "r-interval-cell"]),
        el("tbody", {}, ...sorted.map(line)),
      ),
    ),
  ];
  if (rows.length <= UNFOLDED) return el("section", {}, title, ...parts);
  return el("section", {}, el("details", { class: "r-details" }, el("summary", {}, title), ...parts));
}
