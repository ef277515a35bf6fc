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
  const blob = content instanceof Blob ? content : new Blob([content ?? ""], { type: `${type};charset=utf-8` });
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
  const { place, cells, name: names, group, nearest, similarity, adds } = view.R.samples;
  const { id_column: ids, column: sampled } = view.R;
  const keeps = new Set(keep);
  const own = cells.map(([name]) => name);
  /** @type {[string, (i: number) => Cell][]} */
  const columns = cells.map(([name, column]) => [name, (i) => column[i]]);
  if (!own.includes(ids)) columns.unshift([ids || "place", (i) => place[i]]);
  /** @type {(name: string, value: (i: number) => Cell) => void} */
  const add = (name, value) => columns.push([unused(name, own), value]);
  if (!(sampled && own.includes(sampled))) {
    add("sample", view.text);
    if (names) add("name", (i) => names[i]);
  }
  if (group) add("group", (i) => group[i]);
  add("adds_percent", (i) => adds[i]);
  add("similarity", (i) => similarity[i]);
  add("keep", (i) => Number(keeps.has(i)));
  add("theme", (i) => view.themes.codes[i] + 1);
  add("nearest", (i) => place[nearest[i]]);
  return [columns.map(([name]) => name), ...rows.map((i) => columns.map(([, value]) => value(i)))];
}

/**
 * Returns a name for a column that the visitor's table does not have.
 * @param {string} name
 * @param {string[]} own
 * @returns {string}
 */
export function unused(name, own) {
  return own.includes(name) ? unused(`vendiscore_${name}`, own) : name;
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
