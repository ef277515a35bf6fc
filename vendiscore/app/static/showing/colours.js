/** Colours that pictures are drawn in, for a light and a dark page. */

import { el } from "../dom.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");
const RAMPS = {
  light: [[250, 249, 255], [196, 188, 247], [106, 90, 220], [38, 24, 112]],
  dark: [[24, 22, 38], [66, 54, 148], [143, 128, 255], [244, 241, 255]],
};
export const COLOURED = 8; // groups that have a colour of their own

function ramp() {
  return DARK.matches ? RAMPS.dark : RAMPS.light;
}

/** Runs `draw` now, and whenever the page turns light or dark, until `signal`. */
export function inColours(draw, signal) {
  draw();
  DARK.addEventListener("change", draw, { signal });
}

/** 256 colours from the least to the greatest similarity. */
export function shades() {
  const stops = ramp();
  const table = new Uint8ClampedArray(4 * 256);
  for (let value = 0; value < 256; value++) {
    const at = (value / 255) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      table[4 * value + c] = stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c]);
    }
    table[4 * value + 3] = 255;
  }
  return table;
}

/** The same as a gradient of CSS. */
export function gradient() {
  return `linear-gradient(to right, ${ramp().map((rgb) => `rgb(${rgb.join(" ")})`).join(", ")})`;
}

/** The colour of a variable of the style sheets. */
export function ink(node, name) {
  return getComputedStyle(node).getPropertyValue(`--${name}`).trim();
}

/** A dot in the colour of a group, hollow for what is alone. */
export function spot(number) {
  const dot = el("i", { class: number < 0 ? "r-dot r-hollow" : "r-dot" });
  dot.style.setProperty("--r-of", `var(--${groupColour(number)})`);
  return dot;
}

/** The variable of a group's colour: the largest have their own, the others share one. */
export function groupColour(number) {
  if (number < 0) return "r-alone";
  return number < COLOURED ? `r-group-${number + 1}` : "r-group-more";
}
