/** The heat map: how similar any two are, similar samples side by side. */

import { gradient, inColours, shades } from "./colours.js";
import { alike, count, el } from "../dom.js";
import { explorable } from "./explore.js";
import { brief, place, thumbnail } from "./sample.js";

/** The heat map as a figure; null where it was not sent. */
export function heatMap(view) {
  const { heat } = view.R;
  if (!heat || heat.cells < 2) return null;
  const values = decoded(heat.values);
  const canvas = el("canvas", { width: heat.cells, height: heat.cells, "aria-hidden": "true" });
  const across = el("i", { class: "r-across", hidden: true });
  const down = el("i", { class: "r-down", hidden: true });
  const picture = el("div", {
    class: "r-heat", tabindex: 0, role: "application", "aria-roledescription": "heat map",
    "aria-label": `${described(view, values)} Arrow keys go from pair to pair, Enter to the sample in the table.`,
  }, canvas, across, down);
  const said = el("div", { class: "r-readout", "aria-live": "polite" }, hint(heat));
  const legend = el("span", { class: "r-ramp" });
  inColours(() => {
    paint(canvas, heat.cells, values);
    legend.style.background = gradient();
  }, view.signal);
  const share = (cell) => `${(100 * (cell + 0.5)) / heat.cells}%`;
  const inside = (cell) => Math.max(0, Math.min(heat.cells - 1, cell));
  explorable(picture, {
    at: (x, y) => [inside(Math.floor(x * heat.cells)), inside(Math.floor(y * heat.cells))],
    step: ([column, row], dx, dy) => [inside(column + dx), inside(row + dy)],
    ends: [[0, 0], [heat.cells - 1, heat.cells - 1]],
    show: ([column, row]) => {
      down.style.left = share(column);
      across.style.top = share(row);
      down.hidden = across.hidden = false;
      said.replaceChildren(...pair(view, values, column, row));
    },
    choose: ([, row]) => view.tell("jump", block(heat, row)[0]),
  });
  return el("figure", { class: "r-figure" }, picture,
    el(
      "div",
      { class: "r-legend" },
      el("span", {}, alike(heat.low)),
      legend,
      el("span", {}, alike(heat.high)),
      el("span", {}, "similarity"),
    ),
    said);
}

function decoded(base64) {
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

function paint(canvas, cells, values) {
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(cells, cells);
  const table = shades();
  values.forEach((value, at) => {
    for (let c = 0; c < 4; c++) image.data[4 * at + c] = table[4 * value + c];
  });
  pen.putImageData(image, 0, 0);
}

/** The samples of a cell: one, or a block of neighbours where there are more samples than cells. */
function block({ cells, order }, cell) {
  const edge = (at) => Math.floor((at * order.length) / cells);
  return order.slice(edge(cell), Math.max(edge(cell + 1), edge(cell) + 1));
}

function similarity({ low, high, cells }, values, column, row) {
  return low + ((high - low) * values[row * cells + column]) / 255;
}

function pair(view, values, column, row) {
  const { heat } = view.R;
  const blocks = heat.cells < heat.order.length;
  const value = similarity(heat, values, column, row);
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
    same ? null : side(column),
  ].filter(Boolean);
}

function hint({ cells, order }) {
  const many = cells < order.length ? ` Each cell is the mean of a block of about ${Math.round(order.length / cells)}.` : "";
  return el(
    "p",
    { class: "r-hint" },
    `Point at a cell, or use the arrow keys, to see the two samples. Squares along the diagonal are clusters.${many}`,
  );
}

function described(view, values) {
  const { heat } = view.R;
  let sum = 0;
  for (const value of values) sum += value;
  const mean = heat.low + ((heat.high - heat.low) * sum) / values.length / 255;
  return `Heat map of the similarities of ${count(view.size)} samples, from ${alike(heat.low)} to ${alike(heat.high)}, ${alike(mean)} on average.`;
}
