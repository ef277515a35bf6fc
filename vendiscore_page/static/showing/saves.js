/** Files to take away: the report, the table, everything, the samples to keep. */

import { trouble } from "../dom.js";
import { kept } from "./view.js";

/**
 * Saves a Blob, or text of a MIME type, under a name.
 * @param {Blob | string | null} content
 * @param {string} name
 * @param {string} [type]
 */
export function save(content, name, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob(
    [content ?? ""],
    { type: `${type};charset=utf-8` },
  );
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The same as in vendiscore/tools/reading/csv_cells.py, which reads these files again.
const FORMULA = /^'*[=+\-@\t\r\n]/;
const NUMBER = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/**
 * Puts an apostrophe before a text that a spreadsheet would run.
 * @param {string} text
 */
function textCell(text) {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

/**
 * Writes rows as a CSV file; the mark at its start tells spreadsheets that it is UTF-8.
 * @param {Cell[][]} rows
 */
export function csv(rows) {
  /** @param {Cell} value */
  const cell = (value) => {
    const text = typeof value === "string" ? textCell(value) : String(value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `\ufeff${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

/**
 * Writes the rows of some samples, with all columns of the visitor's table and what was found.
 * @param {View} view
 * @param {number[]} keep
 * @param {number[]} [rows]
 * @returns {Cell[][]}
 */
export function tableRows(view, keep, rows = [...view.groupOf.keys()]) {
  const { place, cells, group, nearest, similarity, adds } = view.R.samples;
  const keeps = new Set(keep);
  /** @type {Record<string, (i: number) => Cell>} */
  const columns = { [view.R.id_column || "place"]: (i) => place[i] };
  for (const [name, column] of Object.entries(cells)) columns[name] = (i) => column[i];
  if (!(view.R.column && view.R.column in cells)) columns.sample = view.text;
  if (group) columns.group = (i) => group[i];
  Object.assign(columns, {
    adds_percent: (/** @type {number} */ i) => adds[i],
    similarity: (/** @type {number} */ i) => similarity[i],
    keep: (/** @type {number} */ i) => Number(keeps.has(i)),
    theme: (/** @type {number} */ i) => view.themes.codes[i] + 1,
    nearest: (/** @type {number} */ i) => place[nearest[i]],
  });
  const makers = Object.values(columns);
  return [Object.keys(columns), ...rows.map((i) => makers.map((make) => make(i)))];
}

/** @param {View} view */
export function saveTable(view) {
  save(csv(tableRows(view, kept(view))), "vendiscore.csv", "text/csv");
}

/** @param {View} view */
export function saveEverything(view) {
  const { threshold, boundary, without } = view;
  const groups = [...view.groups, ...view.alone.map((keep) => ({ keep, rest: [] }))];
  saveJson({ ...view.R, threshold, boundary, without, groups });
}

/**
 * Saves everything there is, for programs.
 * @param {object} everything
 */
export function saveJson(everything) {
  save(everythingText(everything), "vendiscore.json", "application/json");
}

/**
 * Writes everything as JSON, without the keys of what the server keeps for a session.
 * @param {object} everything
 */
export function everythingText(everything) {
  const told = Object.entries(everything).filter(([name]) => !["id", "key"].includes(name));
  return JSON.stringify(Object.fromEntries(told), null, 1);
}

/**
 * Saves some samples to keep.
 * @param {View} view
 * @param {number[]} rows
 */
export function saveKept(view, rows) {
  save(csv(tableRows(view, rows, rows)), "kept.csv", "text/csv");
  view.announce(`${rows.length} samples are saved.`);
}

/**
 * Saves the report, which the server makes from what it still keeps of the result.
 * @param {View} view
 */
export async function saveReport(view) {
  view.announce("Creating the report.");
  try {
    const page = await view.asked("report", { title: view.R.name });
    save(page, "vendiscore-report.html", "text/html");
    view.announce("The report is saved.");
  } catch (failure) {
    view.say(trouble(failure));
  }
}

/**
 * Copies text; returns false where the browser forbids it.
 * @param {string} text
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** @param {string} text */
function copyBySelection(text) {
  const box = document.createElement("textarea");
  box.value = text;
  box.className = "visually-hidden";
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  return done;
}
