/** The map: a dot or a picture for each sample, similar ones close together, coloured by a column. */

import { COLOURED, groupColour, spot } from "./colours.js";
import { count, cut, el, later, newId, shape } from "../dom.js";
import { explorable } from "./explore.js";
import { more } from "./more.js";
import { saver } from "./pictures.js";
import { text as words } from "./axes.js";

const WIDE = 1340; // of the drawing at most; its height follows the samples
const NARROW = 600; // below which a drawing is higher
const EDGE = 36;
const LETTER = 8; // width of one in a label
const LABEL = 24; // characters of a label
const NEAR = 12; // of the width: how far a label looks for dots of its group
const REACH = 24; // how close a pointer must come to a dot
const ROW = 18; // height of a label
const LISTED = 10; // lines of the legend that are seen at first
const SPREAD = 60; // pictures that are moved apart; of more, those are seen that fit
const TURNS = 200; // in which they are moved

/**
 * Gives each sample the number of its value, the commonest first, unless names have an order.
 * @param {(string | number)[]} values
 * @param {string[]} [names]
 * @returns {Coloured}
 */
export function byValue(values, names) {
  const often = new Map();
  for (const value of values.map(String)) often.set(value, (often.get(value) ?? 0) + 1);
  const order = names ?? [...often.keys()].sort((a, b) => often.get(b) - often.get(a));
  return { codes: values.map((value) => order.indexOf(String(value))), names: order };
}

/**
 * Draws a map as a figure, with its search and a legend that picks; `renew()` colours it anew.
 * @param {AnyView} view
 * @param {Scatter} of
 */
export function drawMap(view, of) {
  const wide = Math.max(320, Math.min(WIDE, document.querySelector("#panel")?.clientWidth ?? WIDE));
  const { dots, high, size } = placed(of, wide);
  let ways = of.ways();
  let [way] = Object.keys(ways);
  let seek = "";
  let pick = -1;
  let chosen = -1;
  const marks = drawn(of, dots, size);
  const labels = shape("g");
  const ring = shape("circle", { class: "r-ring", r: 0 });
  const svg = shape("svg", { viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" }, ...marks, labels, ring);
  const card = el("div", { class: "r-hover", hidden: true, "aria-live": "polite" });
  const picture = el("div", {
    class: "r-map", tabindex: 0, role: "application", "aria-roledescription": "map",
  }, svg, card);
  const tools = el("div", { class: "r-filter" });
  const legend = el("ul", { class: "r-legend" });
  /** @param {number} i */
  const fits = (i) => (pick < 0 || ways[way].codes[i] === pick)
    && (!seek || of.text(i).toLocaleLowerCase().includes(seek));
  const dim = () => {
    marks.forEach((mark) => mark.classList.toggle("r-dim", !fits(Number(mark.dataset.i))));
    const { names } = ways[way];
    legend.replaceChildren(...more(names.map((_, at) => () => line(at)), "entries", (button) => el("li", {}, button), LISTED));
    of.picked?.(seek || pick >= 0 ? fits : null);
  };
  /** @param {number} at */
  const line = (at) => {
    const { codes, names, face } = ways[way];
    const many = codes.filter((code) => code === at).length;
    return el("li", {}, el("button", {
      type: "button",
      "aria-pressed": String(at === pick),
      onclick: () => {
        pick = at === pick ? -1 : at;
        dim();
      },
    }, spot(at), face?.(at), el("span", { class: "r-words", dir: "auto" }, names[at] || "–"),
      el("b", {}, count(many)), el("small", {}, `${Math.round((100 * many) / codes.length)} %`)));
  };
  const renew = () => {
    ways = of.ways();
    pick = -1;
    const { codes, names } = ways[way];
    for (const mark of marks) mark.style.setProperty("--r-of", `var(--${groupColour(codes[Number(mark.dataset.i)])})`);
    labels.replaceChildren(...labelled(ways[way], dots, wide));
    picture.setAttribute(
      "aria-label",
      `Map of ${count(dots.length)} samples in ${count(names.length)} colours, by ${way}. Use the arrow keys to move between samples.`,
    );
    dim();
  };
  /** @param {string} wanted */
  const turn = (wanted) => {
    way = wanted;
    const about = el("span", { class: "r-hint" }, "Similar samples are close together.");
    tools.replaceChildren(about, ...chooser(Object.keys(ways), way, turn), ...(ways[way].tools ?? []), search);
    renew();
  };
  const search = el("input", { type: "search", class: "r-search", "aria-label": "Search the map", placeholder: "search" });
  search.addEventListener("input", later(() => {
    seek = search.value.trim().toLocaleLowerCase();
    dim();
  }, 150));
  turn(way);
  const order = [...dots.keys()].sort((i, j) => ways[way].codes[i] - ways[way].codes[j] || dots[i][0] - dots[j][0]);
  const rank = new Map(order.map((i, at) => [i, at]));
  explorable(picture, {
    at: (x, y) => nearest(dots, x * wide, y * high),
    step: (i, dx, dy) => order[Math.max(0, Math.min(order.length - 1, (rank.get(i) ?? 0) + dx + dy))],
    ends: [order[0], order[order.length - 1]],
    show: (i) => {
      if (i === chosen && !card.hidden) return;
      chosen = i;
      const [x, y, r] = dots[i];
      ring.setAttribute("transform", `translate(${x} ${y})`);
      ring.setAttribute("r", String(r + 4));
      card.replaceChildren(...of.card(i, `${way}: ${ways[way].names[ways[way].codes[i]] ?? "–"}`));
      card.hidden = false;
      card.style.inset = beside(x / wide, y / high);
    },
    choose: of.open,
  });
  picture.addEventListener("pointerleave", () => (card.hidden = true));
  const draw = () => file(svg, [wide, high]);
  const save = saver(view, "Map", draw);
  const node = el("figure", { class: "r-figure r-mapped" }, el("div", { class: "r-head" }, tools, save), picture, legend);
  return { node, draw, renew: () => turn(way) };
}

/**
 * @param {number} x
 * @param {number} y
 */
function beside(x, y) {
  /** @param {number} share */
  const ends = (share) => (share > 0.5 ? ["auto", `${103 - 100 * share}%`] : [`${100 * share + 3}%`, "auto"]);
  const [[left, right], [top, bottom]] = [ends(x), ends(y)];
  return `${top} ${right} ${bottom} ${left}`;
}

/**
 * @param {string[]} names
 * @param {string} now
 * @param {(name: string) => void} turn
 */
function chooser(names, now, turn) {
  if (names.length < 2) return [];
  const id = newId("by");
  const options = names.map((name) => el("option", { value: name, selected: name === now }, name));
  const menu = el("select", { id }, ...options);
  menu.addEventListener("change", () => turn(menu.value));
  return [el("label", { for: id }, "coloured by"), menu];
}

/**
 * Writes the names of the largest groups where each has the most dots and others the fewest, none
 * over another.
 * @param {Coloured} way
 * @param {Dot[]} dots
 * @param {number} wide
 */
function labelled({ codes, names }, dots, wide) {
  /** @type {Dot[]} */
  const taken = [];
  return names.slice(0, COLOURED).flatMap((name, at) => {
    const own = dots.filter((_, i) => codes[i] === at);
    if (!own.length) return [];
    const label = cut(name, LABEL);
    const half = (LETTER * label.length) / 2;
    /** @type {(dot: Dot) => number} */
    const lead = ([x, y]) => dots.reduce((sum, [u, v], i) => (
      Math.hypot(u - x, v - y) > wide / NEAR ? sum : sum + (codes[i] === at ? 1 : -1)
    ), 0);
    const leads = own.map(lead);
    const [x, y, r] = own[leads.indexOf(Math.max(...leads))];
    const middle = Math.max(half, Math.min(wide - half, x));
    let low = y - r - 5;
    if (low < ROW) low = y + r + ROW;
    while (taken.some(([u, v, side]) => Math.abs(u - middle) < side + half && Math.abs(v - low) < ROW)) low += ROW;
    taken.push([middle, low, half]);
    return [words(label, middle, low, "middle", "r-flag")];
  });
}

/**
 * Places dots in a drawing so wide, which they fill; where several lie, they are larger.
 * @param {Scatter} of
 * @param {number} wide
 */
function placed({ x, y, picture }, wide) {
  const [left, low] = [Math.min(...x), Math.min(...y)];
  const [across, up] = [Math.max(...x) - left, Math.max(...y) - low];
  const inner = wide - 2 * EDGE;
  const [flat, steep] = wide < NARROW ? [0.6, 1] : [0.3, 0.42];
  const tall = Math.round(inner * Math.max(flat, Math.min(steep, up / (across || 1))));
  const high = tall + 2 * EDGE;
  const r = Math.max(3.2, Math.min(8, 80 / Math.sqrt(x.length)));
  const here = new Map();
  const at = x.map((each, i) => `${each} ${y[i]}`);
  for (const key of at) here.set(key, (here.get(key) ?? 0) + 1);
  /** @type {Dot[]} */
  const dots = x.map((each, i) => [
    EDGE + inner * (across ? (each - left) / across : 0.5),
    EDGE + tall * (up ? (low + up - y[i]) / up : 0.5),
    r * Math.min(3, Math.sqrt(here.get(at[i]))),
  ]);
  const size = Math.max(28, Math.min(64, 300 / Math.sqrt(x.length)));
  if (picture?.(0, {}) && x.length <= SPREAD) apart(dots, size, [wide, high]);
  return { dots, high, size };
}

/**
 * @param {Dot[]} dots
 * @param {number} size
 * @param {[number, number]} ends
 */
function apart(dots, size, [wide, high]) {
  const room = size + 4;
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [i, a] of dots.entries()) {
      for (const b of dots.slice(0, i)) {
        const [dx, dy] = [a[0] - b[0], a[1] - b[1]];
        const axis = Math.abs(dx) > Math.abs(dy) ? 0 : 1;
        const by = (room - Math.abs([dx, dy][axis])) / 2;
        if (by <= 0) continue;
        const sign = [dx, dy][axis] < 0 ? -1 : 1;
        a[axis] += sign * by;
        b[axis] -= sign * by;
      }
    }
    for (const dot of dots) {
      dot[0] = Math.max(room / 2, Math.min(wide - room / 2, dot[0]));
      dot[1] = Math.max(room / 2, Math.min(high - room / 2, dot[1]));
    }
  }
}

/**
 * @param {Scatter} of
 * @param {Dot[]} dots
 * @param {number} size
 */
function drawn({ picture }, dots, size) {
  /** @type {Dot[]} */
  const taken = [];
  return dots.map((dot, i) => {
    const [x, y, r] = dot;
    const free = taken.every(([u, v]) => Math.max(Math.abs(u - x), Math.abs(v - y)) > size);
    /** @param {number} side */
    const box = (side) => ({ x: x - side / 2, y: y - side / 2, width: side, height: side });
    const image = free ? picture?.(i, box(size - 4)) : null;
    if (image) taken.push(dot);
    return shape("g", { class: "r-dotted", "data-i": i }, image
      ? [shape("rect", { class: "r-frame", rx: 4, ...box(size) }), image]
      : shape("circle", { class: "r-point", cx: x, cy: y, r }));
  });
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

/**
 * @param {SVGSVGElement} svg
 * @param {[number, number]} ends
 */
function file(svg, [wide, high]) {
  const made = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  made.querySelector(".r-ring")?.remove();
  made.append(words("Similar samples are close to each other; the axes have no meaning.", 0, high + 4, "start"));
  made.setAttribute("viewBox", `0 0 ${wide} ${high + 10}`);
  return made;
}
