/** Charts as files of their own: SVG and PNG on white, with title and axes inside. */

import { about, count, cut, el, shape } from "../dom.js";
import { menu } from "./menu.js";
import { save } from "./saves.js";

const EDGE = 12; // around a chart
const TITLE = 17;
const BENEATH = 14; // height of the line that says what the chart is of
const SHARPER = 3; // pixels of a PNG for each of the SVG
const LETTER = 6; // width of one at most, to cut what has no room
export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
// What the style sheets say of a shape, which a file has to say itself.
const STYLES = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "font-size",
  "font-weight", "opacity", "paint-order", "stroke-linecap",
];

/**
 * Makes a menu that saves a chart; `draw()` gives its SVG, `title` says what it shows, `others` are
 * more ways.
 * @param {AnyView} view
 * @param {string} title
 * @param {() => SVGElement} draw
 * @param {MenuItem[]} [others]
 */
export function saver(view, title, draw, others = []) {
  const file = () => framed(draw(), title, about(view.R));
  const name = `vendiscore-${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  return menu("⤓", `Save the chart: ${title}`, [
    ["SVG", () => save(written(file()), `${name}.svg`, "image/svg+xml"), "vector graphics"],
    ["PNG", async () => save(await painted(file(), SHARPER), `${name}.png`), "on a white background"],
    ...others,
  ]);
}

/**
 * Says that a chart is of a part of the samples, of those read or of those scored.
 * @param {View} view
 */
export function ofSample({ size, R }) {
  const read = R.n + R.left_out.length;
  const all = R.total > read ? R.total : R.n;
  if (size >= all) return null;
  return el("p", { class: "r-small" }, `This figure shows a random subset of ${count(size)} of all ${count(all)} samples.`);
}

/**
 * @param {SVGElement} drawing
 * @param {string} title
 * @param {string} of
 */
function framed(drawing, title, of) {
  const [, , wide, high] = (drawing.getAttribute("viewBox") ?? "").split(/[ ,]+/).map(Number);
  const top = EDGE + TITLE + BENEATH + 8;
  const [width, height] = [wide + 2 * EDGE, high + top + EDGE];
  const room = Math.floor(wide / LETTER);
  for (const [name, value] of Object.entries({ x: EDGE, y: top, width: wide, height: high })) {
    drawing.setAttribute(name, String(value));
  }
  const whole = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "font-family": FONT },
    shape("title", {}, title),
    shape("rect", { width, height, fill: "#ffffff" }),
    shape("text", { class: "r-title", x: EDGE, y: EDGE + 12 }, cut(title, room)),
    shape("text", { class: "r-tick", x: EDGE, y: EDGE + TITLE + BENEATH - 3 }, cut(of, room)),
    drawing);
  return inlined(whole);
}

/**
 * Gives a drawing of its own what the style sheets say of a light page.
 * @param {SVGElement} whole
 */
export function inlined(whole) {
  const light = el("div", { class: "r-light", hidden: true }, whole);
  document.body.append(light);
  for (const node of whole.querySelectorAll("[class^=r-]")) {
    const style = getComputedStyle(node);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
  }
  for (const node of whole.querySelectorAll("[style]")) node.removeAttribute("style");
  light.remove();
  return whole;
}

/** @param {SVGElement} svg */
function written(svg) {
  return new XMLSerializer().serializeToString(svg);
}

/**
 * Paints a drawing, each of its pixels as several.
 * @param {SVGElement} svg
 * @param {number} [sharper]
 * @returns {Promise<Blob | null>}
 */
export async function painted(svg, sharper = 1) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(written(svg))}`;
  await image.decode();
  const canvas = el("canvas", {
    width: sharper * Number(svg.getAttribute("width")),
    height: sharper * Number(svg.getAttribute("height")),
  });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((give) => canvas.toBlob(give, "image/png"));
}
