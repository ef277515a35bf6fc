/** All samples as a table: sorted, filtered, opened; rows are made as they come into sight. */

import { count, el, find, later, newId, reveal } from "../dom.js";
import { row } from "./rows.js";

const CHUNK = 100; // rows that are made at once

/**
 * Makes the section of the table.
 * @param {View} view
 */
export function table(view) {
  /** @type {Sorting} */
  const state = { by: "place", down: false, words: "", order: [], made: 0, values: {}, fits: null };
  const body = el("tbody");
  const end = el("div", { class: "r-end" });
  const heads = columns(view).map((column) => head(column, state, () => renew()));
  const found = el("p", { class: "r-small", role: "status" });
  const scroll = el("div", {
    class: "r-scroll",
    tabindex: 0,
    role: "region",
    "aria-label": "Table of all samples",
  },
    el(
      "table",
      { class: "r-table r-cards" },
      el("thead", {}, el("tr", {}, ...heads.map(({ cell }) => cell))),
      body,
    ), end);

  const add = () => {
    const next = state.order.slice(state.made, state.made + CHUNK);
    body.append(...next.map((i) => row(view, i)));
    state.made += next.length;
  };
  const renew = () => {
    state.order = ordered(view, state);
    state.made = 0;
    body.replaceChildren();
    heads.forEach(({ mark }) => mark());
    add();
    const all = state.order.length === view.size;
    found.textContent = all ? "" : `${count(state.order.length)} of ${count(view.size)} samples`;
  };
  const watch = new IntersectionObserver(
    (entries) => entries.some((entry) => entry.isIntersecting) && add(),
    { root: scroll, rootMargin: "600px" },
  );
  watch.observe(end);
  view.signal.addEventListener("abort", () => watch.disconnect());

  const filter = filterBox(view, (words) => {
    state.words = words;
    renew();
    scroll.scrollTop = 0;
  });
  view.on("groups", renew);
  view.on("themes", renew);
  view.on("seek", (fits) => {
    state.fits = fits;
    renew();
  });
  view.on("jump", (i) => {
    if (!state.order.includes(i)) {
      filter.clear();
      state.words = "";
      state.fits = null;
      renew();
    }
    const at = state.order.indexOf(i);
    while (state.made <= at) add();
    reach(body, scroll, i);
  });
  renew();
  return el("section", { class: "r-all" },
    el("div", { class: "r-head" }, el("h3", {}, heading(view.R, view.size)), filter.box),
    el(
      "p",
      { class: "r-small" },
      "similarity: similarity to the nearest sample, 1 if identical. contribution: decrease of the score if the sample is removed.",
    ), found, scroll);
}

/**
 * @param {Result} R
 * @param {number} size
 */
function heading({ n }, size) {
  return size < n ? `All samples (random subset of ${count(size)} of ${count(n)})` : "All samples";
}

/**
 * @param {View} view
 * @returns {Column[]}
 */
function columns(view) {
  const { nearest, similarity, adds } = view.R.samples;
  return [
    { name: "place", words: "#", value: (i) => i },
    {
      name: "sample",
      words: "sample",
      value: view.hasText ? (i) => view.words(i).toLocaleLowerCase() : (i) => i,
    },
    { name: "theme", words: "theme", value: (i) => view.themes.codes[i] },
    { name: "nearest", words: "nearest", value: (i) => nearest?.[i] ?? -1 },
    {
      name: "similarity",
      words: "similarity",
      kind: "r-digits",
      first: true,
      value: (i) => similarity?.[i] ?? -Infinity,
    },
    {
      name: "adds",
      words: "contribution",
      kind: "r-digits",
      first: true,
      value: (i) => adds?.[i] ?? -Infinity,
    },
  ];
}

/**
 * Makes a column's head, a button that sorts by it; a second press turns the order.
 * @param {Column} column
 * @param {Sorting} state
 * @param {() => void} renew
 */
function head({ name, words, kind, first, value }, state, renew) {
  const arrow = el("span", { "aria-hidden": "true", class: "r-arrow" });
  const button = el("button", {
    type: "button",
    onclick: () => {
      state.down = state.by === name ? !state.down : Boolean(first);
      state.by = name;
      renew();
    },
  }, words === "#" ? [
    el("span", { "aria-hidden": "true" }, "#"),
    el("span", { class: "visually-hidden" }, "number"),
  ] : words, arrow);
  const cell = el("th", { scope: "col", class: kind }, button);
  const mark = () => {
    if (state.by === name) {
      cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    } else cell.removeAttribute("aria-sort");
    arrow.textContent = state.by === name ? (state.down ? " ▾" : " ▴") : "";
  };
  state.values[name] = value;
  return { cell, mark };
}

/**
 * @param {View} view
 * @param {Sorting} state
 */
function ordered(view, { by, down, words, values, fits: picked }) {
  const wanted = words.trim().toLocaleLowerCase();
  /** @param {number} i */
  const fits = (i) => !wanted || view.where(i).toLocaleLowerCase() === wanted || view.words(i).toLocaleLowerCase().includes(wanted);
  const value = values[by];
  const sign = down ? -1 : 1;
  const places = Array.from({ length: view.size }, (_, i) => i).filter((i) => fits(i) && (picked?.(i) ?? true));
  const keys = places.map((i) => /** @type {const} */ ([value(i), i]));
  return keys.sort(([x, i], [y, j]) => sign * compared(x, y) || i - j).map(([, i]) => i);
}

/**
 * @param {string | number} a
 * @param {string | number} b
 */
function compared(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * @param {View} view
 * @param {(words: string) => void} run
 */
function filterBox(view, run) {
  const id = newId("filter");
  const input = el(
    "input",
    { type: "search", id, placeholder: view.hasText ? "text or #7" : "name or #7", autocomplete: "off" },
  );
  input.addEventListener("input", later(() => run(input.value), 150));
  return {
    box: el("div", { class: "r-filter" }, el("label", { for: id }, "filter"), input),
    clear: () => (input.value = ""),
  };
}

/**
 * Brings a row into sight, in its own scroll, too, and gives it the focus.
 * @param {HTMLElement} body
 * @param {HTMLElement} scroll
 * @param {number} i
 */
function reach(body, scroll, i) {
  const line = body.querySelector(`tr[data-i="${i}"]`);
  if (!line) return;
  scroll.scrollTop += line.getBoundingClientRect().top - scroll.getBoundingClientRect().top - scroll.clientHeight / 3;
  const { top, bottom } = line.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) reveal(scroll.parentElement ?? scroll);
  find(line, ".r-open")?.focus({ preventScroll: true });
  line.classList.add("r-reached");
  setTimeout(() => line.classList.remove("r-reached"), 1600);
}
