/** The axes of a chart: a line, numbers at round places, and a title with its unit. */

import { shape, signed } from "../dom.js";
import { decimals } from "./scale.js";

/**
 * Returns the edges of a chart and its plot: what surrounds the plot holds numbers and titles.
 * @param {{wide: number, high: number, left: number, right: number, top: number, foot: number}} sizes
 * @returns {Box}
 */
export function frame({ wide, high, left, right, top, foot }) {
  return { wide, high, left, right: wide - right, top, ground: high - foot };
}

/**
 * Makes an SVG as large as a frame.
 * @param {Box} box
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function chart({ wide, high }, attributes, ...children) {
  return shape("svg", { viewBox: `0 0 ${wide} ${high}`, ...attributes }, ...children);
}

/**
 * Makes the axis beneath a plot. `at(value)` is where a value stands; `title` says what it is.
 * @param {Box} box
 * @param {number[]} values
 * @param {Scale} at
 * @param {string} title
 */
export function beneath(box, values, at, title) {
  const middle = (box.left + box.right) / 2;
  return [
    line(box.left, box.ground, box.right, box.ground),
    ...values.map((value) => line(at(value), box.ground, at(value), box.ground + 4)),
    ...said(values).map((words, i) => text(words, at(values[i]), box.ground + 16, "middle")),
    text(title, middle, box.high - 4, "middle"),
  ];
}

/**
 * Makes the axis at the left of a plot, whose title is turned.
 * @param {Box} box
 * @param {number[]} values
 * @param {Scale} at
 * @param {string} title
 */
export function beside(box, values, at, title) {
  return [
    line(box.left, box.top, box.left, box.ground),
    ...values.map((value) => line(box.left - 4, at(value), box.left, at(value))),
    ...said(values).map((words, i) => text(words, box.left - 7, at(values[i]) + 4, "end")),
    turned(title, 11, (box.top + box.ground) / 2),
  ];
}

/**
 * Writes numbers as they stand on an axis, all with as many decimal places as their step needs.
 * @param {number[]} values
 */
export function said(values) {
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(values[0]) || 1;
  const digits = decimals(Number(step.toPrecision(9)));
  const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return values.map((value) => signed(value.toLocaleString("en-US", form)));
}

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y
 * @param {"start" | "middle" | "end"} anchor
 * @param {string} [kind]
 */
export function text(words, x, y, anchor, kind = "r-tick") {
  return shape("text", { class: kind, x, y, "text-anchor": anchor }, words);
}

/**
 * Makes words that are read from below.
 * @param {string} words
 * @param {number} x
 * @param {number} y
 */
export function turned(words, x, y) {
  const transform = `rotate(-90 ${x} ${y})`;
  return shape("text", { class: "r-tick", x, y, "text-anchor": "middle", transform }, words);
}

/**
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function line(x1, y1, x2, y2) {
  return shape("line", { class: "r-axis", x1, y1, x2, y2 });
}
