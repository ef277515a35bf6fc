/** For papers: pictures and lines that are fetched when one looks. */

import { el } from "../dom.js";
import { fetched } from "./fetched.js";
import { figures, lines } from "./figures.js";

/**
 * Makes the section; its body is asked for when it is opened.
 * @param {View} view
 */
export function papers(view) {
  const body = el("div", { class: "r-papers" }, el("p", { class: "r-hint" }, "Drawing …"));
  const summary = el(
    "summary",
    {},
    el("h3", {}, "For papers"),
    el("span", { class: "r-small" }, "spectrum · profile over q · growth · signature · Python code"),
  );
  /** @param {Papers} answer */
  const fill = (answer) => filled(view, answer);
  const ask = () => view.asked("papers", {});
  return fetched(view, ask, summary, body, fill, () => lines(view, view.R));
}

/**
 * @param {View} view
 * @param {Papers} answer
 */
function filled(view, answer) {
  const box = el("div", {}, ...lines(view, answer));
  view.on("second", ({ code = answer.code }) => box.replaceChildren(...lines(view, { ...answer, code })));
  return [
    ...answer.sentences.map((sentence) => el("p", {}, sentence)),
    figures(view, answer.pictures),
    box,
    numbers(answer.details),
  ];
}

/** @param {object} details */
function numbers(details) {
  const text = JSON.stringify(details, null, 1);
  return el(
    "details",
    { class: "r-details" },
    el("summary", {}, "All details"),
    el("pre", { tabindex: 0, role: "group", "aria-label": "All details" }, el("code", {}, text)),
  );
}
