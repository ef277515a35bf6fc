/** The worst repeats, in sight at once on a phone, where the clusters come far below. */

import { alike, count, el } from "../dom.js";
import { brief, thumbnail } from "./sample.js";

const SHOWN = 3;

/**
 * Shows the largest clusters or, where there are none, the pairs that are most alike.
 * @param {View} view
 */
export function repeats(view) {
  if (view.size < 2) return null;
  const title = el("h3", {});
  const list = el("ol", {});
  const renew = () => {
    const found = view.groups.slice(0, SHOWN).map(({ keep, rest }) => (
      line(view, keep, `${count(rest.length + 1)} ×`)
    ));
    title.textContent = found.length ? "Repeated most often" : "Most similar samples";
    list.replaceChildren(...(found.length ? found : nearest(view)));
  };
  renew();
  view.on("groups", renew);
  return el("div", { class: "r-repeats" }, title, list);
}

/**
 * Shows samples with the one nearest to them, of two that are nearest to each other only one.
 * @param {View} view
 */
function nearest(view) {
  const { nearest: other, similarity } = view.R.samples;
  const order = [...similarity.keys()].filter((i) => other[i] >= 0);
  order.sort((a, b) => (similarity[b] ?? 0) - (similarity[a] ?? 0) || a - b);
  const first = order.filter((i) => other[other[i]] !== i || i < other[i]);
  return first.slice(0, SHOWN).map((i) => line(view, i, alike(similarity[i]), other[i]));
}

/**
 * @param {View} view
 * @param {number} i
 * @param {string} often
 * @param {number | null} [other]
 */
function line(view, i, often, other = null) {
  const words = other === null ? "" : el("small", {}, ` and ${view.mark(other)}`);
  return el("li", {}, el("button", {
    type: "button", class: "r-repeat", onclick: () => view.tell("jump", i),
  }, el("b", { class: "r-times" }, often), thumbnail(view, i),
    el("span", { class: "r-words" }, view.hasText ? brief(view, i, 90) : view.mark(i), words)));
}
