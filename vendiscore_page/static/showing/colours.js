/** The colours of charts: the same on a light page, on a dark one, and in a report. */

import { el } from "../dom.js";

// viridis, as in the report: for eyes that see few colours, too, it grows lighter evenly.
const VIRIDIS = (
  "440154 481769 472a7a 433d84 3d4e8a 355e8d 2e6d8e 297b8e 23898e 1f978b 21a585 2eb37c 46c06f " +
  "65cb5e 89d548 b0dd2f d8e219 fde725"
).split(" ").map((hex) => [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)));
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
 * Returns the colour of a share, from dark for 0 to bright for 1, as [red, green, blue].
 * @param {number} share
 */
export function shade(share) {
  const at = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(at), VIRIDIS.length - 2);
  return VIRIDIS[i].map((from, c) => Math.round(from + (at - i) * (VIRIDIS[i + 1][c] - from)));
}

/** Returns such colours in equal steps, for a bar that explains them. */
export function stops() {
  return VIRIDIS.map((rgb) => `rgb(${rgb.join(", ")})`);
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
