/** The axes of a chart: a line, numbers at round places, and a title with its unit. */

import { shape, signed } from "../dom.js";
import { decimals } from "./scale.js";

/** The edges of a chart and its plot: what surrounds the plot holds numbers and titles. */
export function frame({ wide, high, left, right, top, foot }) {
  return { wide, high, left, right: wide - right, top, ground: high - foot };
}

/** An SVG as large as a frame. */
export function chart({ wide, high }, attributes, ...children) {
  return shape("svg", { viewBox: `0 0 ${wide} ${high}`, ...attributes }, ...children);
}

/** The axis beneath a plot. `at(value)` is where a value stands; `title` says what it is. */
export function beneath(box, values, at, title) {
  const middle = (box.left + box.right) / 2;
  return [
    line(box.left, box.ground, box.right, box.ground),
    ...values.map((value) => line(at(value), box.ground, at(value), box.ground + 4)),
    ...said(values).map((words, i) => text(words, at(values[i]), box.ground + 16, "middle")),
    text(title, middle, box.high - 4, "middle"),
  ];
}

/** The axis at the left of a plot, whose title is turned. */
export function beside(box, values, at, title) {
  return [
    line(box.left, box.top, box.left, box.ground),
    ...values.map((value) => line(box.left - 4, at(value), box.left, at(value))),
    ...said(values).map((words, i) => text(words, box.left - 7, at(values[i]) + 4, "end")),
    turned(title, 11, (box.top + box.ground) / 2),
  ];
}

/** Numbers as they stand on an axis, all with as many decimals as their step needs. */
export function said(values) {
  const step = values.length > 1 ? values[1] - values[0] : Math.abs(values[0]) || 1;
  const digits = decimals(Number(step.toPrecision(9)));
  const form = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return values.map((value) => signed(value.toLocaleString("en-US", form)));
}

export function text(words, x, y, anchor, kind = "r-tick") {
  return shape("text", { class: kind, x, y, "text-anchor": anchor }, words);
}

/** Words that are read from below. */
export function turned(words, x, y) {
  const transform = `rotate(-90 ${x} ${y})`;
  return shape("text", { class: "r-tick", x, y, "text-anchor": "middle", transform }, words);
}

function line(x1, y1, x2, y2) {
  return shape("line", { class: "r-axis", x1, y1, x2, y2 });
}
