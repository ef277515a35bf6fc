/** A subset to keep: so many samples that differ most, with their ids, to copy or save. */

import { count, el, newId, score, some, trouble, vendi } from "../dom.js";
import { more } from "./more.js";
import { brief, place } from "./sample.js";
import { copyText, saveKept } from "./saves.js";

const MOST = 200; // that the server chooses at once
const USUAL = 10;

/**
 * Makes the section; null where there is nothing to choose from.
 * @param {View} view
 */
export function subset(view) {
  if (view.size < 3) return null;
  const id = newId("keep");
  const most = Math.min(MOST, view.size);
  const size = el("input", {
    type: "number",
    id,
    min: 1,
    max: most,
    value: Math.min(USUAL, Math.ceil(view.size / 2)),
    required: true,
  });
  const answer = el("div", { "aria-live": "polite" });
  /** @param {SubmitEvent} event */
  const choose = async (event) => {
    event.preventDefault();
    answer.replaceChildren(el("p", { class: "r-hint" }, "Choosing …"));
    try {
      const found = await view.asked("subset", { size: size.valueAsNumber });
      answer.replaceChildren(...chosen(view, found));
    } catch (failure) {
      answer.replaceChildren(el("p", { class: "r-problem", role: "alert" }, trouble(failure)));
    }
  };
  const about = "Chooses the samples that differ most from each other, the most different first.";
  const form = el(
    "form",
    { class: "r-filter", onsubmit: choose },
    el("label", { for: id }, "samples to keep"),
    size,
    el("button", { class: "r-button" }, "Choose"),
  );
  return el(
    "section",
    { class: "r-subset" },
    el(
      "details",
      { class: "r-details" },
      el("summary", {}, "Choose samples to keep"),
      el("p", { class: "r-small" }, about),
      form,
      answer,
    ),
  );
}

/**
 * @param {View} view
 * @param {{rows: number[], of: number, q: number | string} & Scored} found
 */
function chosen(view, found) {
  const { rows, of, q } = found;
  const part = of < view.R.n ? ` of the random ${count(of)} that were looked at` : "";
  const other = q === view.R.q ? "" : ` This choice is made at q = ${q}.`;
  const said = `${some(rows.length, "sample")}${part}: ${score(vendi(found))} effectively different.${other}`;
  const copied = el("span", { role: "status" });
  const copy = async () => {
    const done = await copyText(rows.map((i) => view.R.samples.place[i]).join("\n"));
    copied.textContent = done ? " copied" : " The browser does not allow it: save them.";
  };
  const name = view.R.id_column ? "Copy the ids" : "Copy their numbers";
  /** @param {number} i */
  const item = (i) => el("li", {}, place(view, i), " ", brief(view, i, 120));
  return [
    el("p", {}, said),
    el(
      "p",
      {},
      el("button", { type: "button", class: "r-button", onclick: copy }, name),
      " ",
      el(
        "button",
        { type: "button", class: "r-button", onclick: () => saveKept(view, rows) },
        "Save them (CSV)",
      ),
      copied,
    ),
    el(
      "ol",
      { class: "r-members" },
      ...more(rows.map((i) => () => item(i)), "samples", (button) => el("li", {}, button)),
    ),
  ];
}
