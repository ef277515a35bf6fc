/** The scale from 1 to the most that a set can score: its score, and known sets of its size. */

import { count, el, isNumber, score, shape, total, vendi } from "../dom.js";

const TICK = 16; // room between a printed number and a leader line
const KNOWN = 3; // sets that are marked, those nearest to the score
const APART = 0.03; // of the scale, at least
const LETTER = 8; // width of one at most
const LINE = 34; // height at which the scale lies
const ROW = 17; // height of a line of words
const GAP = 10; // between words
const EDGE = 6;
const WIDE = 500; // of a scale that has room for the interval in words

/**
 * Makes the scale as a figure as wide as its container; null where there is nothing to measure.
 * @param {Result} R
 */
export function strip(R) {
  if (!(R.most > 1)) return null;
  const figure = el("figure", { class: "r-strip", role: "img", "aria-label": spoken(R) });
  const draw = () => figure.clientWidth && figure.replaceChildren(drawn(R, figure.clientWidth));
  // Next frame: it must not resize what it observes.
  new ResizeObserver(() => requestAnimationFrame(draw)).observe(figure);
  return figure;
}

/** @param {Result} R */
function spoken(R) {
  const { low, high, most } = R;
  const interval = isNumber(low) && isNumber(high) ? `, with an interval from ${score(low)} to ${score(high)}` : "";
  const names = known(R).map(([name, value]) => `; ${name} ${score(value)}`).join("");
  return `Scale from 1 to ${count(most)}: this set ${score(vendi(R))}${interval}${names}`;
}

/**
 * Chooses known sets near the score that stand apart on the scale, in ascending order.
 * @param {Pick<Result, "scale" | "most"> & Scored} result
 */
export function known(result) {
  const { scale, most } = result;
  const own = vendi(result);
  /** @param {number} x */
  const away = (x) => Math.abs(Math.log(x / own));
  /** @type {Result["scale"]} */
  const kept = [];
  for (const set of scale.slice(0, -1).sort(([, a], [, b]) => away(a) - away(b))) {
    const free = kept.every(([, x]) => Math.abs(Math.log(x / set[1])) >= APART * Math.log(most));
    if (free && kept.length < KNOWN) kept.push(set);
  }
  return kept.sort(([, a], [, b]) => a - b);
}

/**
 * Draws the scale, which is logarithmic, so wide.
 * @param {Result} R
 * @param {number} wide
 */
export function drawn(R, wide) {
  const { low, high, most, of } = R;
  const value = vendi(R);
  /** @param {number} x */
  const at = (x) => {
    const share = Math.log(Math.max(1, Math.min(x, most))) / Math.log(most);
    return EDGE + share * (wide - 2 * EDGE);
  };
  const end = most < of ? `${count(most)}: maximum in ${count(most)} dimensions` : `${total(of)}: no two similar`;
  const flags = flagged([
    ["1: all identical", at(1)],
    [end, at(most)],
    ...known(R).map(([name, x]) => /** @type {Flag} */ ([`${name} ${score(x)}`, at(x)])),
  ], wide);
  const ground = LINE + ROW * (2.4 + Math.max(...flags.map(({ row }) => row)));
  const numbers = decades(most).filter((x) => flags.every((flag) => Math.abs(flag.x - at(x)) > TICK));
  const hasInterval = isNumber(low) && isNumber(high);
  const interval = hasInterval && wide >= WIDE ? ` (${Math.round(100 * (R.level ?? 0.95))} % interval: ${score(low)} to ${score(high)})` : "";
  const own = `this set ${score(value)} of ${total(of)}${interval}`;
  const room = (LETTER * own.length) / 2;
  return shape("svg", { class: "r-scale", viewBox: `0 0 ${wide} ${ground}`, width: wide, height: ground, "aria-hidden": "true" },
    shape("line", { class: "r-track", x1: EDGE, x2: wide - EDGE, y1: LINE, y2: LINE }),
    hasInterval
      ? shape("line", { class: "r-span", x1: at(low), x2: at(high), y1: LINE, y2: LINE })
      : null,
    ...decades(most).map((x) => shape("line", { class: "r-axis", x1: at(x), x2: at(x), y1: LINE, y2: LINE + 7 })),
    ...numbers.map((x) => shape("text", { class: "r-tick", x: at(x), y: LINE + 1.1 * ROW, "text-anchor": "middle" }, count(x))),
    ...flags.map(({ x, row }) => shape("line", { class: "r-axis", x1: x, x2: x, y1: LINE - 5, y2: LINE + ROW * (row + 1.4) })),
    ...flags.map(({ words, from, to, row, anchor }) => shape("text", {
      class: "r-flag", x: anchor === "end" ? to : from, y: LINE + ROW * (row + 2.2), "text-anchor": anchor,
    }, words)),
    shape("circle", { class: "r-own", cx: at(value), cy: LINE, r: 7 }),
    shape("text", { class: "r-marked", x: Math.max(room, Math.min(wide - room, at(value))), y: LINE - 14, "text-anchor": "middle" }, own));
}

/** @param {number} most */
const decades = (most) => [1, 10, 100, 1000].flatMap((power) => [power, 2 * power, 5 * power]).filter((x) => x > 1 && x < most);

/**
 * Places words beneath their marks, from the middle outwards: to the left of a mark on the right half,
 * to the right of one on the left, so that lines pass beside them; lower where words are in the way.
 * @param {Flag[]} marks
 * @param {number} wide
 */
export function flagged(marks, wide) {
  /** @type {{words: string, x: number, row: number, from: number, to: number, anchor: string}[]} */
  const placed = [];
  const outwards = marks.map(([words, x]) => ({ words, x })).sort((a, b) => Math.abs(a.x - wide / 2) - Math.abs(b.x - wide / 2));
  for (const { words, x } of outwards) {
    const long = LETTER * words.length;
    const anchor = x > wide / 2 ? "end" : "start";
    const from = Math.max(0, Math.min(anchor === "end" ? x - long : x, wide - long));
    const to = from + long;
    /** @param {number} row */
    const isFree = (row) => placed.every((other) => (row === other.row
      ? to + GAP < other.from || other.to + GAP < from
      : row > other.row ? x <= other.from || x >= other.to : other.x <= from || other.x >= to));
    const rows = [...placed.keys(), placed.length];
    placed.push({ words, x, row: rows.find(isFree) ?? placed.length, from, to, anchor });
  }
  return placed;
}
