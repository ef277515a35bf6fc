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
