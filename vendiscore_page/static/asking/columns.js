/** The columns of a table: one holds the samples, the others tell of them. */

import { count, el, isNumber } from "../dom.js";
import { field } from "./parts.js";

/** @type {Record<Role, string>} */
const ROLES = { model: "Model", prompt: "Prompt", label: "Label", id: "ID" };

/**
 * Makes the fields of a table, and notes on questions that it cannot answer; `label` is the name of
 * a set of a comparison, or "".
 * @param {Given} given
 * @param {Read} read
 * @param {string} label
 */
export function columns(given, read, label) {
  const names = read.columns ?? [];
  if (names.length < 2) return [];
  const rest = names.filter((name) => name !== read.column);
  /** @type {(name: string, none: string, value: string | null | undefined, change: (value: string) => void, offered?: string[]) => Node} */
  const pick = (name, none, value, change, offered = none ? rest : names) => {
    const empty = none ? el("option", { value: "" }, none) : "";
    const options = offered.map((each) => el("option", { value: each }, each));
    const more = { "data-at": name, "aria-label": label ? `${name}, ${label}` : null };
    const element = el("select", { onchange: () => change(element.value), ...more }, empty, options);
    element.value = value ?? "";
    return field(name, element);
  };
  const roles = read.roles ?? {};
  /** @param {[Role, string]} role */
  const role = ([key, name]) => {
    const [column, n] = roles[key] ?? [];
    const many = n && key !== "id" ? `${name} (${count(n)})` : name;
    return pick(many, "none", column, (value) => given.ask({ [key]: value }));
  };
  const every = /** @type {[Role, string][]} */ (label ? [] : Object.entries(ROLES));
  const found = every.filter(([key]) => roles[key]);
  const others = every.filter(([key]) => !roles[key]);
  /** @param {string} value */
  const by = (value) => given.ask({ by: value || null, sets: read.sets_by, pool: !value });
  /** @param {string} value */
  const sets = (value) => given.ask({ sets: value || null, by: read.by, pool: !value });
  return [
    ...(label ? [] : read.unasked ?? []).map((note) => el("p", { class: "hint" }, note)),
    el(
      "div",
      { class: "fields" },
      pick("Sample column", "", read.column, (column) => given.ask({ column })),
      ...found.map(role),
      read.sets_by ? pick("Set column", "one set", read.sets_by, sets) : null,
      pick("Group column", "no groups", read.by, by),
      ...(label ? correctFields(given, read, pick) : []),
    ),
    others.length && found.length
      ? el(
          "details",
          { class: "how others" },
          el("summary", { "data-at": "others" }, "Other columns"),
          el("div", { class: "fields" }, ...others.map(role)),
        )
      : null,
    read.prompt_column ? promptCheckbox(given, read) : null,
  ];
}

/**
 * @param {Given} given
 * @param {Read} read
 * @param {(name: string, none: string, value: string | null | undefined, change: (value: string) => void, offered: string[]) => Node} pick
 */
function correctFields(given, read, pick) {
  const thresholds = new Map(read.correct_columns ?? []);
  if (!thresholds.size || !read.sets_by || !read.by) return [];
  /** @param {string} value */
  const choose = (value) => given.ask({ correct: value || null, min_quality: thresholds.get(value) ?? null });
  const column = pick("Correct answers", "not compared", read.correct, choose, [...thresholds.keys()]);
  const name = "Minimum quality";
  const number = el("input", {
    type: "number",
    step: "any",
    value: read.min_quality,
    "data-at": name,
    onchange: ({ target }) => {
      if (target.value && target.validity.valid) given.ask({ min_quality: target.valueAsNumber });
    },
  });
  return [column, isNumber(read.min_quality) ? field(name, number) : null];
}

/**
 * @param {Given} given
 * @param {Read} read
 */
function promptCheckbox(given, read) {
  const box = el("input", {
    type: "checkbox",
    checked: Boolean(read.prompts),
    "data-at": "prompts",
    onchange: (event) => given.ask({ prompts: event.target.checked ? read.prompt_column : null }),
  });
  const label = `condition on the prompt (column “${read.prompt_column}”): remove the part of each sample that its prompt explains`;
  return el("label", { class: "choice small" }, box, label);
}
