/** The heads of a table that is only read. */

import { el } from "../dom.js";

/**
 * Makes the heads of a table; columns without words have no head.
 * @param {...Head} columns
 */
export function heads(...columns) {
  /** @param {Head} head */
  const cell = ([words, kind, means]) => (
    words
      ? el("th", { scope: "col", class: kind }, words, means && el("small", {}, means))
      : el("td", { class: kind })
  );
  return el("thead", {}, el("tr", {}, ...columns.map(cell)));
}

/**
 * Makes a table that is only read, after a sentence.
 * @param {string} label
 * @param {string} why
 * @param {Head[]} columns
 * @param {string[][]} rows
 */
export function table(label, why, columns, rows) {
  const lines = rows.map(([name, ...cells]) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, name)),
    ...cells.map((cell) => el("td", {}, cell))));
  return el("div", {},
    el("p", { class: "r-small" }, why),
    el("div", { class: "r-across-scroll", tabindex: 0, role: "region", "aria-label": label },
      el("table", { class: "r-table r-plain" }, heads(...columns), el("tbody", {}, ...lines))));
}
