/** The heat map: how similar any two are, similar samples side by side. */

import { beneath, beside, chart, frame, said, text, turned } from "./axes.js";
import { shade, stops } from "./colours.js";
import { alike, count, el, newId, shape } from "../dom.js";
import { explorable } from "./explore.js";
import { brief, place, thumbnail } from "./sample.js";
import { ofSample, saver } from "./pictures.js";
import { scale, ticks } from "./scale.js";

const BOX = frame({ wide: 400, high: 318, left: 52, right: 68, top: 6, foot: 32 });
const BAR = 12; // width of the bar that explains the colours
const PLACES = 4; // steps of an axis, and of the bar
const SHADES = 5;

/**
 * Makes the heat map as a figure; null where it was not sent.
 * @param {View} view
 */
export function heatMap(view) {
  const { heat } = view.R;
  if (!heat || heat.cells < 2) return null;
  const values = decoded(heat);
  const image = painted(heat, values);
  const [across, down] = ["r-across", "r-down"].map((kind) => shape("path", { class: kind }));
  const picture = el("div", {
    class: "r-heat", tabindex: 0, role: "application", "aria-roledescription": "heat map",
    "aria-label": `${described(view, values)} Arrow keys go from pair to pair, Enter to the sample in the table.`,
  }, drawn(heat, image, across, down));
  const words = el("div", { class: "r-readout", "aria-live": "polite" }, hint(heat));
  const middle = scale(-0.5, heat.cells - 0.5, 0, 1);
  const [x, y] = [scale(0, 1, BOX.left, BOX.right), scale(0, 1, BOX.top, BOX.ground)];
  /** @param {number} cell */
  const inside = (cell) => Math.max(0, Math.min(heat.cells - 1, cell));
  /**
   * @param {number} share
   * @param {number} least
   * @param {number} most
   * @param {number} all
   */
  const cellOf = (share, least, most, all) => (
    inside(Math.floor((heat.cells * (share * all - least)) / (most - least)))
  );
  explorable(picture, {
    /** @returns {[number, number]} */
    at: (right, below) => [
      cellOf(right, BOX.left, BOX.right, BOX.wide),
      cellOf(below, BOX.top, BOX.ground, BOX.high),
    ],
    step: ([column, row], dx, dy) => [inside(column + dx), inside(row + dy)],
    ends: [[0, 0], [heat.cells - 1, heat.cells - 1]],
    show: ([column, row]) => {
      down.setAttribute("d", `M${x(middle(column))} ${BOX.top}V${BOX.ground}`);
      across.setAttribute("d", `M${BOX.left} ${y(middle(row))}H${BOX.right}`);
      words.replaceChildren(...pair(view, values, column, row));
    },
    choose: ([, row]) => view.tell("jump", block(heat, row)[0]),
  });
  const save = saver(view, "Heat map", () => drawn(heat, image));
  return el("figure", { class: "r-figure" }, picture,
    el("div", { class: "r-foot" }, ofSample(view), save), words);
}

/**
 * Returns the similarity of each cell.
 * @param {Heat} heat
 */
function decoded({ values, low, high }) {
  return Float32Array.from(atob(values), (sign) => low + ((high - low) * sign.charCodeAt(0)) / 255);
}

/**
 * Returns the similarities of the first and the last colour: one colour is one similarity.
 * @param {Heat} heat
 * @returns {[number, number]}
 */
function ends({ low, high }) {
  return [Math.min(0, low), Math.max(1, high)];
}

/**
 * @param {Heat} heat
 * @param {Float32Array} values
 */
function painted(heat, values) {
  const canvas = el("canvas", { width: heat.cells, height: heat.cells });
  const pen = canvas.getContext("2d");
  if (!pen) return "";
  const image = pen.createImageData(heat.cells, heat.cells);
  const share = scale(...ends(heat), 0, 1);
  values.forEach((value, at) => image.data.set([...shade(share(value)), 255], 4 * at));
  pen.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

/**
 * @param {Heat} heat
 * @param {string} href
 * @param {...Child} marks
 */
function drawn(heat, href, ...marks) {
  const n = heat.order.length;
  const [low, high] = ends(heat);
  const { left, right, top, ground } = BOX;
  const places = ticks(1, n, PLACES, 1);
  return chart(BOX, { "aria-hidden": "true" },
    shape("image", {
      class: "r-cells", href, x: left, y: top, width: right - left, height: ground - top,
      preserveAspectRatio: "none",
    }),
    ...beneath(BOX, places, scale(0.5, n + 0.5, left, right), "samples, similar ones side by side"),
    ...beside(BOX, places, scale(0.5, n + 0.5, top, ground), "samples, in the same order"),
    ...explained(low, high),
    ...marks);
}

/**
 * Makes a bar beside the plot with the similarities of its colours.
 * @param {number} low
 * @param {number} high
 */
function explained(low, high) {
  const { right, top, ground, wide } = BOX;
  const id = newId("ramp");
  const [x, at] = [right + 14, scale(low, high, ground, top)];
  const colours = stops();
  const values = ticks(low, high, SHADES);
  return [
    shape("linearGradient", { id, x1: 0, x2: 0, y1: 1, y2: 0 }, ...colours.map((colour, i) => (
      shape("stop", { offset: i / (colours.length - 1), "stop-color": colour })
    ))),
    shape("rect", { x, y: top, width: BAR, height: ground - top, fill: `url(#${id})` }),
    ...said(values).map((words, i) => text(words, x + BAR + 4, at(values[i]) + 4, "start")),
    turned("similarity", wide - 4, (top + ground) / 2),
  ];
}

/**
 * Returns the samples of a cell: one, or a block of neighbours where there are more samples than
 * cells.
 * @param {Heat} heat
 * @param {number} cell
 */
function block({ cells, order }, cell) {
  /** @param {number} at */
  const edge = (at) => Math.floor((at * order.length) / cells);
  return order.slice(edge(cell), Math.max(edge(cell + 1), edge(cell) + 1));
}

/**
 * @param {View} view
 * @param {Float32Array} values
 * @param {number} column
 * @param {number} row
 */
function pair(view, values, column, row) {
  const { heat } = view.R;
  const blocks = heat.cells < heat.order.length;
  const value = values[row * heat.cells + column];
  /** @param {number} cell */
  const side = (cell) => {
    const samples = block(heat, cell);
    const more = samples.length > 1 ? el(
      "small",
      {},
      `and ${count(samples.length - 1)} like it`,
    ) : null;
    return el(
      "div",
      { class: "r-side" },
      place(view, samples[0]),
      thumbnail(view, samples[0]),
      view.hasText ? brief(view, samples[0], 140) : null,
      more,
    );
  };
  const same = row === column && !blocks;
  return [
    el(
      "b",
      { class: "r-value" },
      alike(value),
      el("small", {}, same ? " itself" : blocks ? " on average" : " alike"),
    ),
    side(row),
    ...(same ? [] : [side(column)]),
  ];
}

/** @param {Heat} heat */
function hint({ cells, order }) {
  const many = cells < order.length ? ` Each cell is the mean of a block of about ${Math.round(order.length / cells)}.` : "";
  return el(
    "p",
    { class: "r-hint" },
    `Point at a cell, or use the arrow keys, to see the two samples. Squares along the diagonal are clusters.${many}`,
  );
}

/**
 * @param {View} view
 * @param {Float32Array} values
 */
function described(view, values) {
  const { heat } = view.R;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return `Heat map of the similarities of ${count(view.size)} samples, from ${alike(heat.low)} to ${alike(heat.high)}, ${alike(mean)} on average.`;
}
