/** A histogram of the similarity of each sample to its nearest, with the threshold marked. */

import { beneath, beside, chart, frame, text } from "./axes.js";
import { alike, count, el, isNumber, shape, signed, some } from "../dom.js";
import { ofSample, saver } from "./pictures.js";
import { decimals, scale, stepOf, ticks } from "./scale.js";

// The slider above has its thumb at the same shares of the width: see results.css.
const BOX = frame({ wide: 400, high: 150, left: 52, right: 12, top: 18, foot: 34 });
const MOST = 36; // bars
const TICKS = 6;
const HEIGHTS = 3;

/**
 * Makes the histogram as a figure; null where there is nothing to draw.
 * @param {View} view
 */
export function histogram(view) {
  const values = (view.R.samples?.similarity ?? []).filter(isNumber);
  if (values.length < 2) return null;
  const { lowest } = view;
  const below = values.filter((value) => value < lowest - 1e-9).length;
  const less = below ? ` Not shown: ${some(below, "sample")} below ${alike(lowest)}.` : "";
  const bins = counted(values, lowest);
  const picture = el("div", { class: "r-histogram" });
  const said = el("figcaption", {});
  picture.hidden = below === values.length;
  let now = view.threshold;
  const drawing = () => drawn(bins, now, said.textContent ?? "", alike(now));
  /** @param {number} threshold */
  const draw = (threshold) => {
    now = threshold;
    const above = values.filter((value) => value >= threshold - 1e-9).length;
    said.textContent = `${count(above)} of ${some(values.length, "sample")} have a nearest sample with a similarity of at least ${alike(threshold)}.${less}`;
    picture.replaceChildren(drawing());
  };
  draw(now);
  view.on("slide", draw);
  view.on("groups", () => draw(view.threshold));
  const save = saver(view, "Similarity to the nearest sample", drawing);
  return el("figure", { class: "r-figure r-chart" }, picture,
    el("div", { class: "r-foot" }, said, picture.hidden ? null : save), ofSample(view));
}

/**
 * @param {number[]} values
 * @param {number} from
 */
function counted(values, from) {
  const step = stepOf(from, 1, MOST);
  const counts = new Array(Math.max(1, Math.ceil((1 - from) / step - 1e-9))).fill(0);
  for (const value of values) {
    const at = Math.floor((value - from) / step + 1e-9);
    if (at >= 0) counts[Math.min(counts.length - 1, at)] += 1;
  }
  return { from, step, counts };
}

/**
 * @param {{from: number, step: number, counts: number[]}} bins
 * @param {number} threshold
 * @param {string} words
 * @param {string} label
 */
function drawn({ from, step, counts }, threshold, words, label) {
  const across = scale(from, 1, BOX.left, BOX.right);
  const heights = ticks(0, Math.max(...counts, 1), HEIGHTS, 1);
  const up = scale(0, Math.max(...counts, 1), BOX.ground, BOX.top);
  const digits = Math.max(2, decimals(step));
  /** @param {number} value */
  const edge = (value) => signed(value.toFixed(digits));
  const bars = counts.flatMap((n, i) => {
    if (!n) return [];
    const [left, right] = [from + i * step, Math.min(from + (i + 1) * step, 1)];
    const tall = Math.max(2, BOX.ground - up(n));
    return [shape("rect", {
      class: left >= threshold - 1e-9 ? "r-near" : "r-far",
      x: across(left) + 0.75,
      y: BOX.ground - tall,
      width: Math.max(across(right) - across(left) - 1.5, 1),
      height: tall,
    }, shape("title", {}, `${some(n, "sample")}: ${edge(left)} to ${edge(right)}`))];
  });
  return chart(BOX, {
    role: "img",
    "aria-label": `Histogram of the similarity to the nearest sample, from ${alike(from)} to ${alike(1)}. ${words}`,
  },
    ...bars,
    ...beneath(BOX, ticks(from, 1, TICKS), across, "similarity to the nearest sample"),
    ...beside(BOX, heights, up, "samples"),
    mark(across(threshold), label),
  );
}

/**
 * @param {number} x
 * @param {string} label
 */
function mark(x, label) {
  const room = 4 * label.length;
  const anchor = x > BOX.wide - room ? "end" : x < room ? "start" : "middle";
  return shape("g", {},
    shape("path", { class: "r-mark", d: `M${x} ${BOX.top - 4}V${BOX.ground}` }),
    text(label, x, BOX.top - 7, anchor, "r-marked"));
}
