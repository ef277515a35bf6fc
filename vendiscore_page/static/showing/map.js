/** The map: a dot for each sample, alike ones close together, coloured by group. */

import { COLOURED, groupColour, inColours, ink, spot } from "./colours.js";
import { chart, frame, text } from "./axes.js";
import { alike, count, el, shape } from "../dom.js";
import { explorable } from "./explore.js";
import { ofSample, saver } from "./pictures.js";
import { brief, place, thumbnail } from "./sample.js";

const REACH = 0.06; // of the width: how close a pointer must come to a dot
const EDGE = 0.05; // kept free at each side
const WHOLE = 1000; // what the server's coordinates run to
const BOX = frame({ wide: 400, high: 448, left: 0, right: 0, top: 0, foot: 48 }); // of a file
const ACROSS = 5; // clusters in a line of its legend

/**
 * Makes the map as a figure; null where it was not sent.
 * @param {View} view
 */
export function map(view) {
  const where = view.R.map;
  if (!where || where.x.length < 2) return null;
  /** @type {Dot[]} */
  const dots = where.x.map((x, i) => [
    EDGE + (1 - 2 * EDGE) * (x / WHOLE),
    1 - EDGE - (1 - 2 * EDGE) * (where.y[i] / WHOLE),
  ]);
  const together = piles(where);
  const order = view.R.heat?.order ?? dots.map((_, i) => i);
  const rank = new Map(order.map((i, at) => [i, at]));
  const canvas = el("canvas", { "aria-hidden": "true" });
  const picture = el(
    "div",
    { class: "r-map", tabindex: 0, role: "application", "aria-roledescription": "map" },
    canvas,
  );
  const said = el(
    "div",
    { class: "r-readout", "aria-live": "polite" },
    el(
      "p",
      { class: "r-hint" },
      "Alike samples lie close together; there are no axes. Point at a dot, or use the arrow keys, to see the sample.",
    ),
  );
  const legend = el("ul", { class: "r-legend r-groups-legend" });
  /** @param {number} at */
  const inside = (at) => Math.max(0, Math.min(order.length - 1, at));
  let chosen = -1;
  const draw = () => paint(canvas, view, dots, together, chosen);
  const renew = () => {
    picture.setAttribute(
      "aria-label",
      `${described(view)} Arrow keys go from sample to sample, alike ones side by side; Enter to its row of the table.`,
    );
    legend.replaceChildren(
      ...keyOf(view).map(([number, words]) => el("li", {}, spot(number), words)),
    );
    draw();
  };
  const save = saver(view, "Map", () => dotted(view, dots, together));
  const figure = el("figure", { class: "r-figure" }, picture,
    el("div", { class: "r-foot" }, legend, save), ofSample(view), said);
  new ResizeObserver(draw).observe(picture);
  requestAnimationFrame(() => inColours(renew, view.signal));
  view.on("groups", renew);
  explorable(picture, {
    at: (x, y) => nearest(dots, x, y),
    step: (i, dx, dy) => order[inside((rank.get(i) ?? 0) + dx + dy)],
    ends: [order[0], order[order.length - 1]],
    show: (i) => {
      if (i === chosen && said.childElementCount > 1) return;
      chosen = i;
      draw();
      said.replaceChildren(...told(view, i, together.get(pile(where, i)) ?? 1));
    },
    choose: (i) => view.tell("jump", i),
  });
  return figure;
}

/**
 * @param {Result["map"]} where
 * @param {number} i
 */
const pile = ({ x, y }, i) => `${x[i]} ${y[i]}`;

/**
 * Counts how many samples lie at the same place.
 * @param {Result["map"]} where
 * @returns {Map<string, number>}
 */
function piles(where) {
  const found = new Map();
  where.x.forEach((_, i) => found.set(pile(where, i), (found.get(pile(where, i)) ?? 0) + 1));
  return found;
}

/**
 * @param {Dot[]} dots
 * @param {number} x
 * @param {number} y
 */
function nearest(dots, x, y) {
  /** @type {number | null} */
  let best = null;
  let least = REACH ** 2;
  dots.forEach(([px, py], i) => {
    const apart = (px - x) ** 2 + (py - y) ** 2;
    if (apart < least) [best, least] = [i, apart];
  });
  return best;
}

/** @param {Dot[]} dots */
const size = ({ length: n }) => (n > 400 ? 2.5 : n > 100 ? 3.5 : 5);

/**
 * Returns how large a dot is at which several may lie.
 * @param {View} view
 * @param {Dot[]} dots
 * @param {Map<string, number>} together
 * @param {number} i
 */
function grown(view, dots, together, i) {
  return size(dots) * Math.min(3, Math.sqrt(together.get(pile(view.R.map, i)) ?? 1));
}

/**
 * Returns the samples from below to above: the lonely beneath, so that they hide no group.
 * @param {Grouped} view
 */
function layers({ groupOf }) {
  return [...groupOf.keys()].sort((a, b) => groupOf[a] - groupOf[b]);
}

/**
 * Draws the same as shapes, for a file.
 * @param {View} view
 * @param {Dot[]} dots
 * @param {Map<string, number>} together
 */
function dotted(view, dots, together) {
  /**
   * @param {number} number
   * @param {number} cx
   * @param {number} cy
   * @param {number} r
   */
  const circle = (number, cx, cy, r) => {
    const kind = number < 0 ? "r-dotted r-hollow" : "r-dotted";
    const made = shape("circle", { class: kind, cx, cy, r });
    made.style.setProperty("--r-of", `var(--${groupColour(number)})`);
    return made;
  };
  const side = BOX.ground;
  return chart(BOX, {},
    ...layers(view).map((i) => {
      const [x, y] = dots[i];
      return circle(view.groupOf[i], x * side, y * side, grown(view, dots, together, i));
    }),
    ...keyOf(view).flatMap(([number, words], at) => {
      const x = 8 + ((at % ACROSS) * BOX.wide) / ACROSS;
      const y = side + 10 + 16 * Math.floor(at / ACROSS);
      return [circle(number, x, y - 4, 4), text(words, x + 10, y, "start")];
    }),
    text("Alike samples lie close together; there are no axes.", 0, BOX.high - 4, "start"));
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {View} view
 * @param {Dot[]} dots
 * @param {Map<string, number>} together
 * @param {number} chosen
 */
function paint(canvas, view, dots, together, chosen) {
  const side = canvas.parentElement?.clientWidth;
  if (!side) return;
  const sharp = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(side * sharp);
  const pen = canvas.getContext("2d");
  if (!pen) return;
  pen.scale(sharp, sharp);
  const mine = chosen < 0 ? -1 : view.groupOf[chosen];
  const colours = new Map();
  /** @param {number} number */
  const colour = (number) => {
    const name = groupColour(number);
    if (!colours.has(name)) colours.set(name, ink(canvas, name));
    return colours.get(name);
  };
  /** @param {number} i */
  const radius = (i) => grown(view, dots, together, i);
  for (const i of layers(view)) {
    const number = view.groupOf[i];
    pen.globalAlpha = mine >= 0 && number !== mine ? 0.25 : 0.85;
    dot(pen, dots[i], side, radius(i), colour(number), number < 0);
  }
  pen.globalAlpha = 1;
  if (chosen < 0) return;
  dot(pen, dots[chosen], side, radius(chosen) + 4, ink(canvas, "ink"), true);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Dot} at
 * @param {number} side
 * @param {number} radius
 * @param {string} colour
 * @param {boolean} hollow
 */
function dot(pen, [x, y], side, radius, colour, hollow) {
  pen.beginPath();
  pen.arc(x * side, y * side, radius, 0, 2 * Math.PI);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.5;
  if (hollow) pen.stroke();
  else pen.fill();
}

/**
 * Returns the number of a cluster and its words for each colour.
 * @param {Grouped} view
 * @returns {[number: number, words: string][]}
 */
function keyOf({ groups, alone }) {
  /** @type {[number: number, words: string][]} */
  const items = groups.slice(0, COLOURED).map(({ rest }, number) => (
    [number, `${number + 1} (${count(rest.length + 1)})`]
  ));
  const more = groups.length - COLOURED;
  if (more > 0) items.push([COLOURED, `${count(more)} more ${more > 1 ? "clusters" : "cluster"}`]);
  if (alone.length) items.push([-1, `alone (${count(alone.length)})`]);
  return items;
}

/**
 * @param {View} view
 * @param {number} i
 * @param {number} here
 */
function told(view, i, here) {
  const number = view.groupOf[i];
  const { nearest: other, similarity } = view.R.samples;
  const words = number < 0 ? "alone" : `cluster ${number + 1}, of ${count(view.groups[number].rest.length + 1)}`;
  const also = here > 1 ? `, ${count(here - 1)} more at this very place` : "";
  return [
    el(
      "div",
      { class: "r-side" },
      place(view, i),
      thumbnail(view, i),
      view.hasText ? brief(view, i, 240) : null,
    ),
    el(
      "p",
      { class: "r-small" },
      `${words}${also}`,
      other?.[i] >= 0 ? [`; nearest ${alike(similarity[i])}: `, place(view, other[i])] : null,
    ),
  ];
}

/** @param {View} view */
function described({ size, groups, alone, threshold }) {
  const largest = groups.length ? `, the largest of ${count(groups[0].rest.length + 1)}` : "";
  return `Map of ${count(size)} samples: ${count(groups.length)} clusters alike from ${alike(threshold)}${largest}; ${count(alone.length)} alone.`;
}
