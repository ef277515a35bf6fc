/** Repeated phrases: what they cost, and where they occur in the samples. */

import { count, el, isNumber, score, some } from "../dom.js";
import { fetched } from "./fetched.js";
import { copied } from "./figures.js";
import { heads } from "./heads.js";
import { excerpt, marked, phrasePattern } from "./highlight.js";
import { more } from "./more.js";
import { place } from "./sample.js";

const MEANS = "cost: increase of the effective number if each text with the phrase had words of its own instead. share: cost divided by the cost of all similarities together. Words that belong to two phrases are counted once, for the phrase with the larger cost. Select a phrase to highlight it in the samples.";
const LONGEST = 240; // characters of a sample in the list
const TEXTS = ".r-words, .r-full"; // elements with the words of a sample only

/**
 * Makes the section; its body is asked for when it is opened. Null where there are no phrases.
 * @param {View} view
 */
export function phrases(view) {
  const { kind, q } = view.R;
  if (kind !== "texts" || view.size < 2 || q === 0) return null;
  const hint = el("p", { class: "r-hint" }, "Computing …");
  const body = el("div", { class: "r-papers" }, hint);
  const summary = el(
    "summary",
    {},
    el("h3", {}, "Repeated phrases"),
    el("span", { class: "r-small" }, "which phrases lower the effective number, and by how much"),
  );
  /** @returns {Promise<Phrases>} */
  const ask = async () => {
    const answer = view.R.phrases ?? await view.followed("phrases", (words) => (hint.textContent = words));
    view.R.phrases = answer;
    return answer;
  };
  /** @param {Phrases} answer */
  const fill = (answer) => filled(view, answer);
  const section = fetched(view, ask, summary, body, fill);
  section.classList.add("r-phrases");
  return section;
}

/**
 * @param {View} view
 * @param {Phrases} answer
 */
function filled(view, { sentence, note, phrases: rows, settings, code }) {
  const list = el("div", { class: "r-with-phrase" });
  const texts = view.R.samples.text ?? [];
  const across = { tabindex: 0, role: "region", "aria-label": "Table of repeated phrases" };
  /** @type {HTMLElement[]} */
  const buttons = [];
  let pressed = -1;
  /** @param {PhraseRow} row */
  const patternOf = ({ phrase }) => phrasePattern(phrase, texts, settings.analyzer === "char");
  const patterns = rows.map(patternOf);
  /** @param {number} at */
  const highlight = (at) => view.setPhrase(patterns[at] ?? null);
  /** @param {number} at */
  const press = (at) => {
    pressed = at === pressed ? -1 : at;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === pressed)));
    highlight(pressed);
    list.replaceChildren(...(pressed < 0 ? [] : containing(view, rows[pressed], patterns[pressed])));
  };
  view.on("phrase", (pattern) => remark(list.closest(".r"), pattern));
  const lines = rows.map((row, at) => {
    const button = el("button", {
      type: "button",
      class: "r-phrase",
      "aria-pressed": "false",
      onclick: () => press(at),
      onpointerenter: () => highlight(at),
      onpointerleave: () => highlight(pressed),
    }, row.phrase);
    buttons.push(button);
    return el("tr", {},
      el("th", { scope: "row" }, button),
      el("td", { class: "r-digits" }, count(row.n_texts)),
      el("td", { class: "r-digits" }, cost(row)),
      el("td", { class: "r-digits" }, isNumber(row.share) ? `${score(100 * row.share)} %` : "–"));
  });
  const head = heads(["phrase"], ["texts", "r-digits"], ["cost", "r-digits"], ["share", "r-digits"]);
  const table = el("table", { class: "r-table r-plain" }, head, el("tbody", {}, ...lines));
  return [
    el("p", {}, sentence),
    note ? el("p", { class: "r-small" }, note) : null,
    rows.length ? el("p", { class: "r-small" }, MEANS) : null,
    rows.length ? el("div", { class: "r-across-scroll", ...across }, table) : null,
    list,
    copied(view, "Python for the phrases", code),
  ];
}

/** @param {PhraseRow} row */
function cost({ cost: value, cost_q2: ofOrder2 }) {
  if (!isNumber(value)) return `${score(ofOrder2)} (q = 2)`;
  return value >= 0.95 ? score(value) : Number(value).toPrecision(2);
}

/**
 * @param {View} view
 * @param {PhraseRow} row
 * @param {RegExp} pattern
 */
function containing(view, { phrase }, pattern) {
  const texts = view.R.samples.text ?? [];
  const found = texts.flatMap((text, i) => (text.search(pattern) >= 0 ? [i] : []));
  view.announce(`${some(found.length, "sample")} with “${phrase}”.`);
  /** @param {number} i */
  const item = (i) => el("li", {}, place(view, i), " ",
    el("span", { dir: "auto" }, marked(excerpt(texts[i], pattern, LONGEST), pattern)));
  return [
    el("p", {}, `${some(found.length, "sample")} with “`, el("bdi", {}, phrase), "”:"),
    el("ul", { class: "r-members" },
      ...more(found.map((i) => () => item(i)), "samples", (button) => el("li", {}, button))),
  ];
}

/**
 * @param {Element | null} container
 * @param {RegExp | null} pattern
 */
function remark(container, pattern) {
  for (const node of container?.querySelectorAll(TEXTS) ?? []) {
    const parts = marked(node.textContent, pattern);
    if (parts.length > 1 || node.childElementCount) {
      node.replaceChildren(...parts.map((part) => (part instanceof Node ? part : String(part))));
    }
  }
}
