/** The heads of a table that is read and not worked with. */

import { el } from "../dom.js";

/** `columns` are [words, class, title], all but the words as needed; without words it is no head. */
export function heads(...columns) {
  const cell = ([words, kind, title]) => (
    words ? el("th", { scope: "col", class: kind, title }, words) : el("td", { class: kind })
  );
  return el("thead", {}, el("tr", {}, ...columns.map(cell)));
}
