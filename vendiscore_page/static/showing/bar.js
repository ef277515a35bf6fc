/** The bar that stays in sight: the number, its share of the whole, and the way it was found. */

import { about, alike, count, el, error, isNumber, score, whole } from "../dom.js";
import { menu } from "./menu.js";
import { repeats } from "./repeats.js";
import { named, rungs } from "./rungs.js";
import { saveEverything, saveKept, saveReport, saveTable } from "./saves.js";
import { notes, second } from "./second.js";
import { shareMenu } from "./share.js";

/**
 * Makes the bar of a view.
 * @param {View} view
 */
export function bar(view) {
  const { R } = view;
  return card(
    view,
    number(R),
    meter(R),
    el("p", { class: "r-about" }, el("bdi", {}, about(R))),
    second(view),
    el("div", { class: "r-tools" }, shareMenu(view), downloads(view)),
  );
}

/**
 * Makes a bar that stays in sight; `view.say` shows a few words in it for a while, and says them.
 * @param {AnyView} view
 * @param {...Child} line
 */
export function card(view, ...line) {
  const told = el("p", { class: "r-told", hidden: true });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  view.say = (words) => {
    view.announce(words);
    told.textContent = words;
    told.hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => (told.hidden = true), 6000);
  };
  return el("div", { class: "r-bar" },
    el(
      "div",
      { class: "r-card" },
      el("div", { class: "r-line" }, ...line),
      el("p", { class: "r-was", hidden: true }),
      told,
    ));
}

/** @param {Result} R */
function number(R) {
  const se = error(R.se);
  return el("h2", { class: "r-number" },
    "≈ ", el("b", {}, score(R.VS)), ` of ${whole(R)}`,
    se ? el("span", { class: "r-se" }, ` ± ${se}`) : null,
  );
}

/**
 * Draws VS / n as a bar, with its interval as a thin stretch and known sets as marks.
 * @param {Result} R
 */
function meter(R) {
  const { VS, share, low, high, of } = R;
  /** @param {number} value */
  const percent = (value) => `${Math.max(0, Math.min(100, (100 * value) / of))}%`;
  const fill = el("i", { class: "r-fill" });
  fill.style.width = `${100 * Math.min(share, 1)}%`;
  const parts = [fill];
  if (isNumber(low) && isNumber(high) && high > low) {
    const stretch = el("i", { class: "r-stretch" });
    stretch.style.left = percent(low);
    stretch.style.width = `calc(${percent(high)} - ${percent(low)})`;
    parts.push(stretch);
  }
  for (const [name, value] of rungs(R)) {
    const mark = el("i", { class: "r-rung", title: `${name} ${score(value)}` });
    mark.style.left = percent(value);
    parts.push(mark);
  }
  const label = `${Math.round(100 * share)} % of the samples: ${score(VS)} of ${whole(R)} are effectively different`;
  return el("div", { class: "r-meter", role: "img", "aria-label": label }, ...parts);
}

/** @param {View} view */
function downloads(view) {
  /** @type {MenuItem[]} */
  const items = [["Report (HTML)", () => saveReport(view), "words and pictures in one file"]];
  if (view.size) {
    items.push(["Table (CSV)", () => saveTable(view), "a row for each sample"]);
  }
  items.push(["Everything (JSON)", () => saveEverything(view), "all numbers, for programs"]);
  if (view.size) items.push(["Kept samples (CSV)", () => saveKept(view), "one of each cluster"]);
  return menu("Download", "Download", items);
}

/**
 * Says the first things beneath the bar: copies, the sentence, the interval, the yardstick, notes.
 * @param {View} view
 */
export function summary(view) {
  const { R } = view;
  const without = el("p", { class: "r-yardstick" });
  const compare = () => without.replaceChildren(...yardstick(view));
  compare();
  view.on("groups", compare);
  const small = [
    R.interval ? el("p", { class: "r-small" }, R.interval) : null,
    R.growth ? el("p", { class: "r-small" }, R.growth) : null,
    R.wording ? el("p", { class: "r-small" }, R.wording) : null,
    ...(R.notes ?? []).filter((note) => !R.unused?.includes(note)).map((note) => el("p", { class: "r-small" }, note)),
  ];
  return el("section", { class: "r-summary" },
    el(
      "div",
      {},
      R.unused ? el("p", { class: "r-copies" }, R.unused) : null,
      R.copies ? el("p", { class: "r-copies" }, R.copies) : null,
      el("p", { class: "r-sentence" }, R.sentence),
      R.typical ? el("p", { class: "r-typical" }, R.typical) : null,
      R.typical ? el("p", { class: "r-small" }, named(R)) : null,
      without,
      repeats(view),
    ),
    el("div", {}, ...small, notes(view)));
}

/** @param {View} view */
function yardstick({ R, without, threshold, groups }) {
  if (!without || R.n < 2) return [];
  const part = without.of < R.n ? `Among a random ${count(without.of)} of the samples` : "";
  if (!groups.length) return [
    `${part ? `${part}, no` : "No"} two have a similarity of ${alike(threshold)} or more: there are no near-duplicates.`,
  ];
  if (without.left >= without.of) return [];
  const which = R.by_group ? "All groups together, without near-duplicates: " : "Without near-duplicates: ";
  return [
    part ? `${part} (score ${score(without.all)}), without near-duplicates: ` : which,
    el("b", {}, score(without.VS)),
    ` of ${count(without.left)}`,
    ` (one sample of each cluster kept, similarity from ${alike(threshold)}).`,
  ];
}
