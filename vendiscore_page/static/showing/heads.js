/** Tables that are only read, and the same rows for a file. */

import { el, signed } from "../dom.js";

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
 * Returns the names of some fields of records, and rows of their values.
 * @param {object[]} records
 * @param {string[]} fields
 * @returns {Cell[][]}
 */
export function rowsOf(records, fields) {
  const rows = records.map((record) => new Map(Object.entries(record)));
  return [fields, ...rows.map((row) => fields.map((name) => row.get(name)))];
}

/**
 * Makes a table of rows, the first of which are its heads, after a sentence.
 * @param {string} label
 * @param {string} why
 * @param {Cell[][]} rows
 */
export function table(label, why, [head, ...rows]) {
  /** @param {Cell} value */
  const said = (value) => typeof value === "number" ? signed(Number(value.toPrecision(3))) : value ?? "–";
  const lines = rows.map(([name, ...cells]) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, name)),
    ...cells.map((cell) => el("td", {}, said(cell)))));
  return el("div", {},
    el("p", { class: "r-small" }, why),
    el("div", { class: "r-across-scroll", tabindex: 0, role: "region", "aria-label": label },
      el("table", { class: "r-table r-plain" },
        heads(...head.map((name) => /** @type {Head} */ ([String(name)]))), el("tbody", {}, ...lines))));
}
