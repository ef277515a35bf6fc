/** The heads of a table that is read and not worked with. */

import { el } from "../dom.js";

/** `columns` are [words, class, what it means], all but the words as needed; a head has words. */
export function heads(...columns) {
  const cell = ([words, kind, means]) => (
    words
      ? el("th", { scope: "col", class: kind }, words, means && el("small", {}, means))
      : el("td", { class: kind })
  );
  return el("thead", {}, el("tr", {}, ...columns.map(cell)));
}

/** A table whose rows are cards on a phone: each cell then has its head before it. */
export function carded(table) {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const { cells } of table.tBodies[0].rows) {
    [...cells].forEach((cell, at) => cell.tagName === "TD" && (cell.dataset.head = names[at]));
  }
  table.classList.add("r-cards");
  return table;
}
