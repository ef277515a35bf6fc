/** How similar each sample is to the one nearest to it, as a histogram with the threshold marked. */

import { alike, count, el, shape, signed, some } from "../dom.js";

const WIDE = 400;
const HIGH = 120;
const FOOT = 26; // beneath the axis
const HEAD = 18; // above the highest bar
const SIDE = 8;
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
const MOST = 24; // bars
const TICKS = 6;

/** The histogram as a figure; null where there is nothing to draw. */
export function histogram(view) {
  const values = (view.R.samples?.similarity ?? []).filter(Number.isFinite);
  if (values.length < 2) return null;
  const bins = counted(values);
  const picture = el("div", { class: "r-histogram" });
  const said = el("figcaption", {});
  const draw = (threshold) => {
    const above = values.filter((value) => value >= threshold - 1e-9).length;
    said.textContent = `${count(above)} of ${some(values.length, "sample")} have another that is ${alike(threshold)} or more alike.`;
    picture.replaceChildren(drawn(bins, threshold, said.textContent));
  };
  draw(view.threshold);
  view.on("slide", draw);
  view.on("groups", () => draw(view.threshold));
  return el("figure", { class: "r-figure" }, picture, said);
}

/** {from, step, counts}: bars of a round width, the last of which ends at 1 or above. */
function counted(values) {
  let least = Infinity;
  let most = 1;
  for (const value of values) {
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const step = STEPS.find((width) => (most - least) / width <= MOST) ?? (most - least) / MOST;
  const from = Math.min(Math.floor(least / step + 1e-9) * step, most - step);
  const counts = new Array(Math.max(1, Math.ceil((most - from) / step - 1e-9))).fill(0);
  for (const value of values) {
    counts[Math.min(counts.length - 1, Math.floor((value - from) / step + 1e-9))] += 1;
  }
  return { from, step, counts };
}

function drawn({ from, step, counts }, threshold, words) {
  const end = from + step * counts.length;
  const across = (value) => SIDE + ((WIDE - 2 * SIDE) * (value - from)) / (end - from);
  const highest = Math.max(...counts);
  const ground = HIGH - FOOT;
  const bars = counts.flatMap((n, i) => {
    if (!n) return [];
    const [left, right] = [from + i * step, from + (i + 1) * step];
    const tall = Math.max(2, ((ground - HEAD) * n) / highest);
    const title = shape(
      "title",
      {},
      `${some(n, "sample")}: ${tick(left, step)} to ${tick(right, step)}`,
    );
    const kind = left >= threshold - 1e-9 ? "r-near" : "r-far";
    return [
      shape(
        "rect",
        {
          class: kind,
          x: across(left) + 0.75,
          y: ground - tall,
          width: across(right) - across(left) - 1.5,
          height: tall,
          rx: 1.5,
        },
        title,
      ),
    ];
  });
  return shape("svg", {
    viewBox: `0 0 ${WIDE} ${HIGH}`,
    role: "img",
    "aria-label": `Histogram of the similarity to the nearest, from ${alike(from)} to ${alike(end)}. ${words}`,
  },
    ...bars,
    shape("line", { class: "r-axis", x1: SIDE, x2: WIDE - SIDE, y1: ground, y2: ground }),
    ...ticks(from, step, counts.length).map((value) => shape(
      "text",
      { class: "r-tick", x: across(value), y: HIGH - 8, "text-anchor": anchor(across(value)) },
      tick(value, step),
    )),
    mark(across, threshold, from, end, ground),
  );
}

function mark(across, threshold, from, end, ground) {
  if (threshold < from || threshold > end) return "";
  const x = across(threshold);
  return shape("g", { class: "r-mark" },
    shape("line", { x1: x, x2: x, y1: HEAD - 4, y2: ground }),
    shape("text", { x, y: HEAD - 7, "text-anchor": anchor(x) }, alike(threshold)));
}

function tick(value, step) {
  return signed(value.toFixed(step < 0.01 ? 3 : 2));
}

function anchor(x) {
  if (x < 30) return "start";
  return x > WIDE - 30 ? "end" : "middle";
}

function ticks(from, step, bars) {
  const every = Math.ceil(bars / TICKS);
  return Array.from({ length: Math.floor(bars / every) + 1 }, (_, i) => from + i * every * step);
}
