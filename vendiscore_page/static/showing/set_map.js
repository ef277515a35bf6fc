/** The map of a comparison: the samples of all sets, coloured by their sets or their prompts. */

import { cut, el, shape } from "../dom.js";
import { byValue, drawMap } from "./map.js";
import { called, named } from "./view.js";

const LONGEST = 240; // characters of a text on its card

/**
 * Makes the section of the map; null where there is nothing to see.
 * @param {View<Compared>} view
 */
export function setMap(view) {
  const { matrix, rows, map: { x, y, set, group, place, text, image, name: names } } = view.R;
  if (x.length < 3) return null;
  const sets = byValue(set, rows.map(({ name }) => name));
  const [one, other] = matrix ? ["model", "prompt"] : ["set", "group"];
  /** @param {number} i */
  const name = (i) => called(place[i]);
  /** @param {number} i */
  const words = (i) => named(names?.[i], text?.[i] ?? name(i));
  const { node } = drawMap(view, {
    x,
    y,
    ways: () => ({ [one]: sets, ...(group ? { [other]: byValue(group) } : {}) }),
    text: words,
    picture: (i, box) => (image ? shape("image", { href: image[i], ...box }) : null),
    card: (i, way) => [
      el("b", {}, name(i)),
      image ? el("img", { class: "r-thumb", src: image[i], alt: "" }) : el("span", {}, cut(words(i), LONGEST)),
      el("small", {}, way),
    ],
  });
  return el("section", { class: "r-wide", "aria-label": "Map" }, node);
}
