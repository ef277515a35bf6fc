/** For papers: pictures and lines that are fetched when one looks. */

import { el } from "../dom.js";
import { copied, figures } from "./figures.js";

/** The section; what it holds is asked for when it is opened. */
export function papers(view) {
  const body = el("div", { class: "r-papers" }, el("p", { class: "r-hint" }, "Drawing …"));
  const summary = el(
    "summary",
    {},
    el("h3", {}, "For papers"),
    el(
      "span",
      { class: "r-small" },
      "spectrum · profile over q · growth · magnitude · signature · Python that runs anywhere",
    ),
  );
  const details = el("details", { class: "r-details" }, summary, body);
  let asked = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || asked) return;
    asked = true;
    try {
      body.replaceChildren(...filled(view, await view.asked("papers", {})));
    } catch (failure) {
      asked = false;
      body.replaceChildren(
        el("p", { class: "r-problem", role: "alert" }, view.trouble(failure)),
        ...lines(view, view.R),
      );
    }
  });
  return el("section", {}, details);
}

function filled(view, answer) {
  return [
    ...(answer.sentences ?? []).map((sentence) => el("p", {}, sentence)),
    figures(view, answer.pictures),
    ...lines(view, answer),
    answer.details ? numbers(answer.details) : "",
  ].filter(Boolean);
}

function lines(view, { signature, code }) {
  return [
    code ? copied(view, "Python", code) : null,
    signature ? copied(view, "Signature", signature) : null,
  ].filter(Boolean);
}

function numbers(details) {
  const text = typeof details === "string" ? details : JSON.stringify(details, null, 1);
  return el(
    "details",
    { class: "r-details" },
    el("summary", {}, "All details"),
    el("pre", { tabindex: 0, role: "group", "aria-label": "All details" }, el("code", {}, text)),
  );
}
