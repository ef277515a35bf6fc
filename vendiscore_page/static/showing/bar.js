/** The main result: the finding, the number and how it was computed. */

import { about, el, error, score, vendi, whole } from "../dom.js";
import { menu } from "./menu.js";
import { saveEverything, saveReport, saveTable } from "./saves.js";
import { notes, second } from "./second.js";
import { shareMenu } from "./share.js";
import { strip } from "./strip.js";

/**
 * Makes the card of a view.
 * @param {View} view
 */
export function bar(view) {
  const { R } = view;
  return card(
    view,
    el("h2", { class: "r-finding" }, R.finding),
    number(R),
    el("p", { class: "r-about" }, el("bdi", {}, about(R))),
    second(view),
    el("div", { class: "r-tools" }, shareMenu(view), downloads(view)),
  );
}

/**
 * Makes the card; `view.say` shows and announces a few words in it for a while.
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
  return el("p", { class: "r-number" },
    "≈ ", el("b", {}, score(vendi(R))), ` of ${whole(R)}`,
    se ? el("span", { class: "r-se" }, ` ± ${se}`) : null,
  );
}

/** @param {View} view */
function downloads(view) {
  return menu("Download", "Download", [
    ["Report (HTML)", () => saveReport(view), "text and figures in one file"],
    ["Table (CSV)", () => saveTable(view), "your rows with nearest sample, contribution and theme"],
    ["Everything (JSON)", () => saveEverything(view), "all results in machine-readable form"],
  ]);
}

/**
 * Says what the number means, and shows its scale; how sure it is can be opened.
 * @param {View} view
 */
export function summary(view) {
  const { R } = view;
  const said = [R.interval, R.growth, R.typical, R.wording, ...R.notes.filter((note) => !R.unused.includes(note))];
  return el("section", { class: "r-summary" },
    strip(R),
    el("p", { class: "r-sentence" }, R.sentence),
    ...[R.unused, R.copies].map((words) => words && el("p", { class: "r-copies" }, words)),
    el("details", { class: "r-details" },
      el("summary", {}, "Uncertainty and notes"),
      ...said.map((words) => words && el("p", { class: "r-small" }, words)),
      notes(view)));
}
