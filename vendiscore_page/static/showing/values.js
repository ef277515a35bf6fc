/** All values of a call that was edited as text, with the magnitude functions of its sets. */

import { about, el, isNumber, shape, signed } from "../dom.js";
import { beneath, beside, chart, frame, text } from "./axes.js";
import { card } from "./bar.js";
import { copied } from "./figures.js";
import { heads } from "./heads.js";
import { menu } from "./menu.js";
import { saver } from "./pictures.js";
import { scale, ticks } from "./scale.js";
import { save } from "./saves.js";

const BOX = frame({ wide: 400, high: 230, left: 52, right: 12, top: 18, foot: 34 });
const DIGITS = 10; // of values in the table
const COLOURS = ["r-curve", "r-curve r-second-curve"];
const PARTS = /_(se|low|high)$/; // of the key of an interval

/**
 * Makes the parts of the result.
 * @param {View<Values>} view
 */
export function values(view) {
  const { R } = view;
  const [first, value] = Object.entries(R.values)[0] ?? ["", null];
  return [
    card(
      view,
      el("h2", { class: "r-number" }, `${first} `, el("b", {}, short(value))),
      el("p", { class: "r-about" }, el("bdi", {}, about(R))),
      el("div", { class: "r-tools" }, menu("Download", "Download", [
        ["Everything (JSON)", () => save(JSON.stringify(R, null, 1), "vendiscore.json", "application/json"), "all values in machine-readable form"],
      ])),
    ),
    table(R),
    R.curves.length ? magnitude(view) : null,
    ...R.notes.map((note) => el("p", { class: "r-small" }, note)),
    copied(view, "Python", R.code),
    copied(view, "Signature", R.signature),
  ];
}

/**
 * Writes the values in words, for who does not see them.
 * @param {Values} R
 */
export function spokenValues({ values: found, reference_values: others, sets = ["samples", "references"] }) {
  /** @type {(name: string, value: number | string | null) => string} */
  const said = (name, value) => (name in others ? `${sets[0]} ${short(value)}, ${sets[1]} ${short(others[name])}` : short(value));
  return Object.entries(found).map(([name, value]) => `${name}: ${said(name, value)}`).join(". ");
}

/** @param {number | string | null} value */
function short(value) {
  return isNumber(value) ? signed(Number(value.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 })) : String(value ?? "–");
}

/** @param {Values} R */
function table({ values: found, reference_values: others, sets = ["samples", "references"] }) {
  const names = Object.keys(found).filter((name) => !PARTS.test(name) || !(name.replace(PARTS, "") in found));
  const hasOthers = Object.keys(others).length > 0;
  const first = hasOthers ? sets : ["value"];
  const intervals = names.some((name) => isNumber(found[`${name}_low`]));
  /** @param {number | string | null | undefined} value */
  const cell = (value) => el("td", { class: "r-digits" }, isNumber(value) ? signed(String(Number(value.toPrecision(DIGITS)))) : value ?? "–");
  const rows = names.map((name) => el("tr", {},
    el("th", { scope: "row" }, name),
    cell(found[name]),
    hasOthers ? cell(others[name]) : null,
    intervals ? cell(found[`${name}_se`]) : null,
    intervals ? cell(found[`${name}_low`]) : null,
    intervals ? cell(found[`${name}_high`]) : null));
  const digits = (/** @type {string} */ name) => /** @type {Head} */ ([name, "r-digits"]);
  const more = intervals ? ["error", "low", "high"].map(digits) : [];
  return el("section", {},
    el("h3", {}, "All values"),
    el("div", { class: "r-scroll r-low", tabindex: 0, role: "region", "aria-label": "All values" },
      el("table", { class: "r-table r-plain" },
        heads(["measure"], ...first.map(digits), ...more), el("tbody", {}, ...rows))));
}

/** @param {View<Values>} view */
function magnitude(view) {
  const { curves } = view.R;
  const words = curves.map(({ name, sentence }) => (curves.length > 1 ? `${name}: ${sentence}` : sentence)).join(" ");
  const caption = "Magnitude is the effective number of samples if all distances are multiplied by the scale. Dashed lines mark the convergence scales.";
  const drawing = () => drawn(curves, words);
  return el("section", {},
    el("h3", {}, "Magnitude function"),
    el("figure", { class: "r-figure r-chart" },
      el("div", {}, drawing()),
      el("div", { class: "r-foot" }, el("figcaption", {}, `${words} ${caption}`), saver(view, "Magnitude function", drawing))));
}

/**
 * @param {Curve[]} curves
 * @param {string} words
 */
function drawn(curves, words) {
  const far = Math.max(...curves.flatMap(({ scales }) => scales));
  const tall = Math.max(...curves.flatMap(({ values: found }) => found));
  const across = scale(0, far, BOX.left, BOX.right);
  const up = scale(0, tall, BOX.ground, BOX.top);
  const lines = curves.flatMap(({ name, scales, values: found, convergence }, i) => {
    const points = scales.map((t, j) => `${across(t).toFixed(1)} ${up(found[j]).toFixed(1)}`);
    const last = scales.length - 1;
    return [
      shape("path", { class: COLOURS[i], d: `M${points.join("L")}` }),
      shape("path", { class: "r-mark", d: `M${across(convergence)} ${BOX.top}V${BOX.ground}` }),
      curves.length > 1 ? text(name, across(scales[last]), up(found[last]) + (i ? 14 : -5), "end", "r-marked") : null,
    ];
  });
  return chart(BOX, { role: "img", "aria-label": `Magnitude function. ${words}` },
    ...lines,
    ...beneath(BOX, ticks(0, far, 6), across, "scale t"),
    ...beside(BOX, ticks(0, tall, 5), up, "magnitude"));
}
