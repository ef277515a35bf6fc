/** A row of the table of all samples, and what opens beneath it. */

import { spot } from "./colours.js";
import { alike, cut, dotted, el, isNumber, signed } from "../dom.js";
import { marked } from "./highlight.js";
import { full, place, thumbnail } from "./sample.js";

/**
 * Makes the row of sample i; its button opens the sample in full.
 * @param {View} view
 * @param {number} i
 */
export function row(view, i) {
  const { nearest, similarity, adds } = view.R.samples;
  const words = el(
    "span",
    { class: "r-words", dir: "auto" },
    view.hasText ? marked(cut(view.words(i), 160), view.phrase) : view.mark(i),
  );
  const button = el(
    "button",
    { type: "button", class: "r-open", "aria-expanded": "false" },
    thumbnail(view, i),
    words,
  );
  const kept = view.groups[view.groupOf[i]]?.keep ?? i;
  const tag = kept === i ? null : el("span", { class: "r-tag" }, `duplicate of ${view.mark(kept)}`);
  const line = el("tr", { "data-i": i },
    el("th", { scope: "row", class: "r-nr" }, numbered(view, i)),
    el("td", { class: "r-sample" }, button, tag),
    el("td", { "data-head": "theme" }, el("span", { class: "r-of-group" }, spot(view.themes.codes[i]), view.themes.codes[i] + 1)),
    el("td", { "data-head": "nearest" }, nearest[i] >= 0 ? place(view, nearest[i]) : "–"),
    el("td", { class: "r-digits", "data-head": "similarity" },
      strength(nearest[i] >= 0 ? similarity[i] : null)),
    el("td", { class: "r-digits", "data-head": "contribution" }, percent(adds[i])),
  );
  button.addEventListener("click", () => turn(view, i, line, button));
  return line;
}

/**
 * Writes the id, or the place as the visitor counts; files, which have names, are counted from 1.
 * @param {View} view
 * @param {number} i
 */
function numbered(view, i) {
  const place = view.where(i);
  if (view.R.id_column) return cut(String(view.R.samples.place[i]), 16);
  return place.startsWith("#") ? place.slice(1) : String(i + 1);
}

/**
 * @param {View} view
 * @param {number} i
 * @param {HTMLElement} line
 * @param {HTMLElement} button
 */
function turn(view, i, line, button) {
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  line.classList.toggle("r-is-open", open);
  if (open) line.after(opened(view, i));
  else line.nextElementSibling?.remove();
}

/**
 * @param {View} view
 * @param {number} i
 */
function opened(view, i) {
  const { nearest, similarity, adds } = view.R.samples;
  const other = nearest[i] ?? -1;
  const facts = dotted(
    view.where(i),
    String(view.R.samples.group?.[i] ?? ""),
    `theme ${view.themes.codes[i] + 1}`,
    adds ? `contribution ${percent(adds[i])}` : "",
  );
  return el("tr", { class: "r-beneath" }, el("td", { colspan: 6 },
    el("div", { class: "r-beside" },
      el("div", {}, el("p", { class: "r-small" }, facts), full(view, i)),
      other < 0 ? null : el(
        "div",
        {},
        el(
          "p",
          { class: "r-small" },
          `nearest sample (similarity ${alike(similarity[i])}): `,
          place(view, other),
        ),
        full(view, other),
      ),
    )));
}

/** @param {number | null | undefined} value */
function strength(value) {
  if (!isNumber(value)) return "–";
  const bar = el("i", { class: "r-strength", "aria-hidden": "true" });
  bar.style.setProperty("--r-share", String(Math.max(0, Math.min(1, value))));
  return el("span", { class: "r-with-bar" }, bar, alike(value));
}

/** @param {number | null | undefined} value */
function percent(value) {
  return isNumber(value) ? `${signed(Number(value).toFixed(2))} %` : "–";
}
