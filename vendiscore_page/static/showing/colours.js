/** The colours of charts: the same on a light page, on a dark one, and in a report. */

import { el } from "../dom.js";

export const COLOURED = 8; // groups that have a colour of their own

/**
 * Runs `draw` now, and whenever the page turns light or dark, until `signal`.
 * @param {() => void} draw
 * @param {AbortSignal} signal
 */
export function inColours(draw, signal) {
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
}

/**
 * Returns the colour of a variable of the style sheets.
 * @param {Element} node
 * @param {string} name
 */
export function ink(node, name) {
  return getComputedStyle(node).getPropertyValue(`--${name}`).trim();
}

/**
 * Makes a dot in the colour of a group, hollow for what is alone.
 * @param {number} number
 */
export function spot(number) {
  const dot = el("i", { class: number < 0 ? "r-dot r-hollow" : "r-dot" });
  dot.style.setProperty("--r-of", `var(--${groupColour(number)})`);
  return dot;
}

/**
 * Names the variable of a group's colour: the largest have their own, the others share one.
 * @param {number} number
 */
export function groupColour(number) {
  if (number < 0) return "r-alone";
  return number < COLOURED ? `r-group-${number + 1}` : "r-group-more";
}
