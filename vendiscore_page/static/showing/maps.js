/** Two pictures of all samples at once, one of which is seen: a map and a heat map. */

import { el } from "../dom.js";
import { heatMap } from "./heat.js";
import { map } from "./map.js";

let last = "Map"; // the one that was looked at is looked at again in the next result

/**
 * Makes the section of the pictures; null where there are none.
 * @param {View} view
 */
export function maps(view) {
  const pictures = { Map: map(view), "Heat map": heatMap(view) };
  const made = Object.entries(pictures).flatMap(([name, picture]) => (
    picture ? [{ name, picture }] : []
  ));
  if (!made.length) return null;
  const shown = made.some(({ name }) => name === last) ? last : made[0].name;
  const buttons = made.map(({ name }) => el(
    "button",
    { type: "button", "aria-pressed": "false", onclick: () => turn(name) },
    name,
  ));
  /** @param {string} wanted */
  const turn = (wanted) => {
    last = wanted;
    made.forEach(({ name, picture }, at) => {
      buttons[at].setAttribute("aria-pressed", String(name === wanted));
      picture.hidden = name !== wanted;
    });
  };
  turn(shown);
  return el("section", {},
    el("div", { class: "r-head" },
      el("h3", {}, "All at a glance"),
      el("div", { class: "r-switch", role: "group", "aria-label": "Kind of picture" }, ...buttons),
    ),
    ...made.map(({ picture }) => picture),
  );
}
