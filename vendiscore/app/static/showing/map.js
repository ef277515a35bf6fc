/** The map: a dot for each sample, alike ones close together, coloured by group. */

import { COLOURED, groupColour, inColours, ink, spot } from "./colours.js";
import { alike, count, el } from "../dom.js";
import { explorable } from "./explore.js";
import { brief, place, thumbnail } from "./sample.js";

const REACH = 0.06; // of the width: how close a pointer must come to a dot
const EDGE = 0.05; // kept free at each side
const WHOLE = 1000; // what the server's coordinates run to

/** The map as a figure; null where it was not sent. */
export function map(view) {
  const where = view.R.map;
  if (!where || where.x.length < 2) return null;
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
  const inside = (at) => Math.max(0, Math.min(order.length - 1, at));
  let chosen = -1;
  const draw = () => paint(canvas, view, dots, together, chosen);
  const renew = () => {
    picture.setAttribute(
      "aria-label",
      `${described(view)} Arrow keys go from sample to sample, alike ones side by side; Enter to its row of the table.`,
    );
    legend.replaceChildren(...keyOf(view));
    draw();
  };
  const figure = el("figure", { class: "r-figure" }, picture, legend, said);
  new ResizeObserver(draw).observe(picture);
  requestAnimationFrame(() => inColours(renew, view.signal));
  view.on("groups", renew);
  explorable(picture, {
    at: (x, y) => nearest(dots, x, y),
    step: (i, dx, dy) => order[inside((rank.get(i) ?? 0) + dx + dy)],
    ends: [order[0], order.at(-1)],
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

const pile = ({ x, y }, i) => `${x[i]} ${y[i]}`;

/** How many samples lie at the same place. */
function piles(where) {
  const found = new Map();
  where.x.forEach((_, i) => found.set(pile(where, i), (found.get(pile(where, i)) ?? 0) + 1));
  return found;
}

function nearest(dots, x, y) {
  let best = null;
  let least = REACH ** 2;
  dots.forEach(([px, py], i) => {
    const apart = (px - x) ** 2 + (py - y) ** 2;
    if (apart < least) [best, least] = [i, apart];
  });
  return best;
}

function paint(canvas, view, dots, together, chosen) {
  const side = canvas.parentElement.clientWidth;
  if (!side) return;
  const sharp = window.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(side * sharp);
  const pen = canvas.getContext("2d");
  pen.scale(sharp, sharp);
  const small = dots.length > 400 ? 2.5 : dots.length > 100 ? 3.5 : 5;
  const mine = chosen < 0 ? -1 : view.groupOf[chosen];
  const colours = new Map();
  const colour = (number) => {
    const name = groupColour(number);
    if (!colours.has(name)) colours.set(name, ink(canvas, name));
    return colours.get(name);
  };
  const radius = (i) => small * Math.min(3, Math.sqrt(together.get(pile(view.R.map, i)) ?? 1));
  // Those that are alone lie beneath, so that they hide no group.
  const last = [...view.groupOf.keys()].sort((a, b) => view.groupOf[a] - view.groupOf[b]);
  for (const i of last) {
    const number = view.groupOf[i];
    pen.globalAlpha = mine >= 0 && number !== mine ? 0.25 : 0.85;
    dot(pen, dots[i], side, radius(i), colour(number), number < 0);
  }
  pen.globalAlpha = 1;
  if (chosen < 0) return;
  dot(pen, dots[chosen], side, radius(chosen) + 4, ink(canvas, "ink"), true);
}

function dot(pen, [x, y], side, radius, colour, hollow) {
  pen.beginPath();
  pen.arc(x * side, y * side, radius, 0, 2 * Math.PI);
  pen.strokeStyle = pen.fillStyle = colour;
  pen.lineWidth = 1.5;
  if (hollow) pen.stroke();
  else pen.fill();
}

function keyOf({ groups, alone }) {
  const item = (number, words) => el("li", {}, spot(number), words);
  const items = groups.slice(0, COLOURED).map(({ rest }, number) => item(
    number,
    `${number + 1} (${count(rest.length + 1)})`,
  ));
  if (groups.length > COLOURED) items.push(item(
    COLOURED,
    `${count(groups.length - COLOURED)} more clusters`,
  ));
  if (alone.length) items.push(item(-1, `alone (${count(alone.length)})`));
  return items;
}

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

function described({ size, groups, alone, threshold }) {
  const largest = groups.length ? `, the largest of ${count(groups[0].rest.length + 1)}` : "";
  return `Map of ${count(size)} samples: ${count(groups.length)} clusters alike from ${alike(threshold)}${largest}; ${count(alone.length)} alone.`;
}
