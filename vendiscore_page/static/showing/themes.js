/** Themes: samples that are alike on average, on a map. */

import { alike, cut, el, newId } from "../dom.js";
import { byValue, drawMap } from "./map.js";
import { ofSample } from "./pictures.js";
import { brief, pictured, thumbnail } from "./sample.js";

const NAMED = 60; // characters of a name
const MOST = 40; // values of a column that tells groups apart

/** @param {unknown} cell */
const isFraction = (cell) => typeof cell === "number" && !Number.isInteger(cell);

/**
 * Makes the section of the map; null where there is nothing to see.
 * @param {View} view
 */
export function themes(view) {
  const { map: where, themes: tree, samples, kind } = view.R;
  if (view.size < 3) return null;
  const id = newId("themes");
  const number = el("input", { type: "number", id, min: 1, max: view.size, value: tree.count });
  number.addEventListener("change", () => {
    if (number.validity.valid && number.value) view.setThemes(number.valueAsNumber);
  });
  const tools = [el("label", { for: id }, "number of themes"), number];
  /** @type {[string, Cell[]][]} */
  const own = samples.cells.length || !samples.group ? samples.cells : [["group", samples.group]];
  const columns = own.filter(([, cells]) => {
    const many = new Set(cells).size;
    return many > 1 && many < cells.length && many <= MOST && !cells.some(isFraction);
  });
  const others = columns.map(([name, cells]) => [name, byValue(cells.map((cell) => String(cell ?? "")))]);
  const { node, draw, renew } = drawMap(view, {
    ...where,
    ways: () => ({
      theme: {
        codes: view.themes.codes,
        names: view.themes.typical.map((i) => cut(`${kind === "vectors" ? `${view.mark(i)}: ` : ""}${view.words(i)}`, NAMED)),
        face: (at) => thumbnail(view, view.themes.typical[at]),
        tools,
      },
      ...Object.fromEntries(others),
    }),
    text: view.words,
    picture: (i, box) => pictured(view, i, box),
    card: (i, way) => [
      el("b", {}, view.mark(i)), thumbnail(view, i), view.hasText ? brief(view, i, 240) : null,
      el("small", {}, way),
      samples.nearest[i] >= 0 ? el("small", {}, `nearest: ${view.mark(samples.nearest[i])} (similarity ${alike(samples.similarity[i])})`) : null,
    ].filter((part) => part !== null),
    open: (i) => view.tell("jump", i),
    picked: (fits) => view.tell("seek", fits),
  });
  view.map = draw;
  view.on("themes", renew);
  return el("section", { class: "r-wide", "aria-label": "Map" }, node, ofSample(view));
}
