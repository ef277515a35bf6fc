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
 * Makes the rows of a table cards on a phone: each cell then has its head before it.
 * @param {HTMLTableElement} table
 */
export function carded(table) {
  const names = [...(table.tHead?.rows[0].cells ?? [])].map(
    (cell) => cell.firstChild?.textContent ?? "", // without what explains it
  );
  for (const { cells } of table.tBodies[0].rows) {
    for (const [at, cell] of [...cells].entries()) {
      if (cell.tagName === "TD") cell.dataset.head = names[at];
    }
  }
  table.classList.add("r-cards");
  return table;
}
