/** Occurrences of a phrase in texts, marked. */

import { cut, el } from "../dom.js";

const BEFORE = 40; // characters before the first occurrence in an excerpt
const WORD = "[\\p{L}\\p{N}\\p{M}_]";
const RUNS = new RegExp(`${WORD}+|\\s+|[^\\s]`, "gu");
const QUOTES = /^["“”]$/;

/**
 * Returns a pattern that finds a phrase of tokens, whatever the spaces between them. If no text
 * contains it as whole words, the phrase may begin or end within a word, as in "n't".
 * @param {string} phrase
 * @param {string[]} texts
 * @param {boolean} ofCharacters
 */
export function phrasePattern(phrase, texts, ofCharacters) {
  if (ofCharacters) return new RegExp(phrase.split(/\s+/u).map(escaped).join("\\s+"), "gu");
  const inside = (phrase.match(RUNS) ?? []).map(part).join("\\s*").replaceAll("\\s*\\s+\\s*", "\\s+");
  const whole = new RegExp(`(?<!${WORD}(?=${WORD}))${inside}(?!(?<=${WORD})${WORD})`, "gu");
  return texts.some((text) => text.search(whole) >= 0) ? whole : new RegExp(inside, "gu");
}

/**
 * @param {string} run
 * @param {number} i
 * @param {string[]} runs
 */
function part(run, i, runs) {
  if (QUOTES.test(run)) return "[\"“”]";
  if (!/^\s/u.test(run)) return escaped(run);
  const word = new RegExp(`^${WORD}`, "u");
  return word.test(runs[i - 1]) && word.test(runs[i + 1]) ? "\\s+" : "";
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/]/gu, "\\$&");

/**
 * Returns a text with each occurrence of a pattern in a mark; all of it without a pattern.
 * @param {string} text
 * @param {RegExp | null} pattern
 * @returns {Child[]}
 */
export function marked(text, pattern) {
  if (!pattern) return [text];
  /** @type {Child[]} */
  const parts = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (!found) continue;
    parts.push(text.slice(end, index), el("mark", {}, found));
    end = index + found.length;
  }
  return [...parts, text.slice(end)];
}

/**
 * Cuts a text to a length at which it shows the first occurrence of a pattern.
 * @param {string} text
 * @param {RegExp} pattern
 * @param {number} longest
 */
export function excerpt(text, pattern, longest) {
  const line = text.replace(/\s+/gu, " ").trim();
  const start = line.search(pattern);
  if (start <= BEFORE || line.length <= longest) return cut(line, longest);
  const from = line.indexOf(" ", start - BEFORE);
  return `…${cut(line.slice(from < 0 || from > start ? start : from), longest)}`;
}
