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
    answer.replaceChildren(el("p", { class: "r-hint" }, "Selecting …"));
    try {
      const found = await view.asked("subset", { size: size.valueAsNumber });
      answer.replaceChildren(...chosen(view, found));
    } catch (failure) {
      answer.replaceChildren(el("p", { class: "r-problem", role: "alert" }, trouble(failure)));
    }
  };
  const about = "Selects the samples that differ most from each other, starting with the most different ones.";
  const form = el(
    "form",
    { class: "r-filter", onsubmit: choose },
    el("label", { for: id }, "subset size"),
    size,
    el("button", { class: "r-button" }, "Select"),
  );
  return el(
    "section",
    { class: "r-subset" },
    el(
      "details",
      { class: "r-details" },
      el("summary", {}, "Select a diverse subset"),
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
  const part = of < view.R.n ? ` of a random subset of ${count(of)}` : "";
  const other = q === view.R.q ? "" : ` This selection uses q = ${q}.`;
  const said = `${some(rows.length, "sample")}${part}: effective number ${score(vendi(found))}.${other}`;
  const copied = el("span", { role: "status" });
  const copy = async () => {
    const done = await copyText(rows.map((i) => view.R.samples.place[i]).join("\n"));
    copied.textContent = done ? " copied" : " The browser did not allow copying; save the samples instead.";
  };
  const name = view.R.id_column ? "Copy the IDs" : "Copy the sample numbers";
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
        "Save these samples (CSV)",
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
