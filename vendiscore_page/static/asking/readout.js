/** The samples as they were read: their split, the first rows, and what is wrong. */

import { count, el } from "../dom.js";
import { columns } from "./columns.js";
import { button, byId, fill } from "./parts.js";

/** @type {WeakMap<HTMLElement, {given: Given, state: string}>} */
const drawn = new WeakMap(); // of each container what it shows

/** @type {Record<string, string>} */
const SPLITS = { line: "line", blank: "blank line", row: "row" };

/**
 * Shows samples in a container. `score()` scores the usable ones, `turn(kind)` reads them as another
 * kind; `label` names their set.
 * @param {HTMLElement} container
 * @param {Given} given
 * @param {{score: () => void, turn: (kind: Kind) => void, label?: string}} page
 */
export function readout(container, given, { score, turn, label = "" }) {
  const read = given.read ?? (given.busy ? given.before : null);
  const { busy, question: asks, problem, leaveOut, source } = given;
  const state = JSON.stringify([busy, read?.key, asks, problem, leaveOut, source, label]);
  const last = drawn.get(container);
  if (last?.given === given && last.state === state) return;
  drawn.set(container, { given, state });
  const open = [...container.querySelectorAll("details[open]")].map((each) => each.className);
  const waits = busy && !(read && source === "text"); // nothing jumps while one types
  container.setAttribute("aria-busy", String(given.busy));
  fill(
    container,
    waits ? el("p", { class: "hint busy" }, "Reading …") : null,
    asks ? question(given, asks) : null,
    ...(read ? whatWasRead(given, read, { turn, label }) : []),
    given.busy ? null : troubled(given, score, label ? "Compare" : "Score"),
  );
  if (!given.read) return;
  for (const each of container.querySelectorAll("details")) each.open = open.includes(each.className);
}

/**
 * @param {Given} given
 * @param {Read} read
 * @param {{turn: (kind: Kind) => void, label: string}} page
 */
function whatWasRead(given, read, { turn, label }) {
  const next = () => given.ask({ draw: (read.draw ?? 0) + 1 });
  const again = () => el("p", {}, button("Draw another random subset", next, "chip", { "data-at": "draw" }));
  return [
    read.taken ? el("p", { class: "small taken" }, read.taken) : null,
    how(read, turn),
    ...(read.advice ?? []).map((advice) => el("p", { class: "small" }, advice)),
    read.total > read.n ? again() : null,
    ...columns(given, read, label),
    read.splits?.length > 1 ? splits(given, read, label) : null,
    label && given.text ? null : preview(read), // a set's box is enough
  ];
}

/**
 * @param {Read} read
 * @param {(kind: Kind) => void} turn
 */
function how(read, turn) {
  const notes = read.notes.map((note) => el("p", {}, note));
  const others = read.kinds.filter((kind) => kind !== read.kind);
  const as = others.map((kind) => button(`Read as ${kind}`, () => turn(kind)));
  const [first, ...rest] = read.said.split(/, (?=\d)/);
  const much = read.total > read.n ? `A random subset of ${count(read.n)} of ${count(read.total)}` : first;
  const said = el("span", {}, el("b", {}, much), rest.length ? `, ${rest.join(", ")}` : "");
  if (!notes.length && !as.length) return el("p", { class: "small" }, said);
  const more = as.length ? el("p", { class: "row" }, ...as) : null;
  return el("details", { class: "how" }, el("summary", { "data-at": "how" }, said), ...notes, more);
}

/**
 * @param {Given} given
 * @param {Read} read
 * @param {string} label
 */
function splits(given, read, label) {
  const group = `split-${label}`;
  const sensible = read.splits.filter(({ value, count: n }) => n > 1 || value === read.separator);
  const chips = sensible.map(({ value, count: n }) =>
    el(
      "label",
      { class: "chip pick" },
      el("input", {
        type: "radio",
        name: group,
        checked: value === read.separator,
        "data-at": `split ${value}`,
        onchange: () => given.ask({ separator: value }),
      }),
      SPLITS[value] ?? value,
      el("span", { class: "hint" }, count(n)),
    ),
  );
  return el(
    "fieldset",
    { class: "row splits" },
    el("legend", { class: "visually-hidden" }, `Separator between samples ${label}`),
    el("span", { class: "hint", "aria-hidden": "true" }, "Split by"),
    ...chips,
    el("input", {
      type: "text",
      class: "sign",
      size: 6,
      placeholder: "other",
      value: read.splits.some(({ value }) => value === read.separator) ? "" : (read.separator ?? ""),
      "aria-label": `Split by another separator ${label}`.trim(),
      "data-at": "sign",
      onchange: ({ target }) => {
        if (target.value.trim()) given.ask({ separator: target.value.trim() });
      },
    }),
  );
}

/** @param {Read} read */
function preview(read) {
  const shown = read.preview.slice(0, 3).map((each, i) =>
    el("li", {}, typeof each === "string" ? each : el("img", { src: each.image, alt: `Image ${i + 1}` })),
  );
  return shown.length ? el("ol", { class: "preview" }, ...shown) : null;
}

/**
 * @param {Given} given
 * @param {Question} question
 */
function question(given, { text, choices }) {
  /** @param {Asked} options */
  const answer = (options) => {
    given.ask(options);
    byId("score").focus();
  };
  const answers = choices.map(({ label, options }) => button(label, () => answer(options), "button"));
  return el(
    "div",
    { class: "question", role: "group", "aria-label": text },
    el("p", {}, text),
    el("div", { class: "row" }, ...answers),
  );
}

/**
 * Says what cannot be used, with a button that scores the others; or why nothing can be read.
 * @param {Given} given
 * @param {() => void} score
 * @param {string} verb
 */
function troubled(given, score, verb) {
  const problem = given.problem ?? unreadable(given.read, verb);
  if (!problem) return null;
  if (given.leaveOut && given.read) {
    const summary = el("summary", {}, `Not used: ${problem.text}`);
    return el("details", { class: "hint left-out" }, summary, lines(problem));
  }
  const others = () => {
    given.leaveOut = true;
    byId("score").focus();
    score();
  };
  return trouble(given.read ? problem : { ...problem, others: 0 }, others, verb);
}

/**
 * Shows a problem, and `others()` to go on without what it is about.
 * @param {Problem} problem
 * @param {() => void} others
 * @param {string} verb
 */
export function trouble(problem, others, verb) {
  const which = problem.lines?.length
    ? el("details", {}, el("summary", {}, "Which samples?"), lines(problem))
    : null;
  const then = problem.then ? el("p", { class: "small" }, problem.then) : null;
  const go = problem.others
    ? button(`${verb} the other ${count(problem.others)}`, others, "button")
    : null;
  return el("div", { class: "trouble", role: "alert", tabindex: -1 }, el("p", {}, problem.text), which, then, go);
}

/** @param {Problem} problem */
function lines(problem) {
  return el("ul", { class: "lines" }, ...(problem.lines ?? []).map((line) => el("li", {}, line)));
}

/**
 * @param {Read | null} read
 * @param {string} verb
 * @returns {Problem | null}
 */
function unreadable(read, verb) {
  const { problems, n = 0 } = read ?? {};
  if (!problems?.count) return null;
  const where = problems.rows ? ` (${problems.rows})` : "";
  const text = `${count(problems.count)} of ${count(n)} samples are unreadable${where}`;
  const then = problems.others ? `Press “${verb}” to continue without them.` : "";
  return { text, then, lines: problems.lines };
}
