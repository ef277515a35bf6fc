/** The score as the most redundant samples go, asked for when it is opened. */

import { beneath, beside, chart, frame } from "./axes.js";
import { alike, count, el, isNumber, score, shape, some } from "../dom.js";
import { fetched } from "./fetched.js";
import { explorable } from "./explore.js";
import { heads } from "./heads.js";
import { ofSample, saver } from "./pictures.js";
import { scale, ticks } from "./scale.js";

const BOX = frame({ wide: 400, high: 180, left: 52, right: 12, top: 12, foot: 34 });
const TICKS = 5;

/**
 * Makes the section; null where nothing can go.
 * @param {View} view
 */
export function thinning(view) {
  if (view.size < 3) return null;
  const body = el("div", {}, el("p", { class: "r-hint" }, "Working it out …"));
  const summary = el("summary", {}, "What if the most redundant were removed?");
  return fetched(view, "thinning", summary, body, (answer) => filled(view, answer));
}

/**
 * @param {View} view
 * @param {Thinning} answer
 */
function filled(view, { removed, VS, thresholds }) {
  if (!removed?.length) return [el("p", { class: "r-hint" }, "No sample can be removed.")];
  const [most, top] = [removed.at(-1) || 1, Math.max(...VS, 1)];
  const x = scale(0, most, BOX.left, BOX.right);
  const y = scale(0, top, BOX.ground, BOX.top);
  const said = el("p", { class: "r-readout", "aria-live": "polite" });
  const spot = shape("circle", { class: "r-spot", r: 5 });
  const rule = shape("line", { class: "r-rule", y1: BOX.top, y2: BOX.ground });
  /** @param {number} i */
  const words = (i) => sentence(view.size, removed[i], VS[i], thresholds?.[i]);
  /** @param {number} i */
  const show = (i) => {
    spot.setAttribute("cx", String(x(removed[i])));
    spot.setAttribute("cy", String(y(VS[i])));
    rule.setAttribute("x1", String(x(removed[i])));
    rule.setAttribute("x2", String(x(removed[i])));
    said.textContent = words(i);
  };
  /** @param {...Child} marks */
  const drawn = (...marks) => chart(BOX, { "aria-hidden": "true" },
    ...beneath(BOX, ticks(0, most, TICKS, 1), x, "samples removed"),
    ...beside(BOX, ticks(0, top, TICKS), y, "effectively different"),
    shape("polyline", {
      class: "r-curve", points: removed.map((k, i) => `${x(k)},${y(VS[i])}`).join(" "),
    }), ...marks);
  const picture = el("div", {
    class: "r-line-chart",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `The score when the most redundant are removed, from ${words(0)} Arrow keys go along it.`,
  }, drawn(rule, spot));
  const places = removed.map(x);
  explorable(picture, {
    at: (share) => nearest(places, share * BOX.wide),
    step: (i, dx, dy) => Math.max(0, Math.min(removed.length - 1, i + dx - dy)),
    ends: [0, removed.length - 1],
    show,
  });
  show(0);
  const save = saver(view, "The score without the most redundant", () => drawn());
  return [
    el("figure", { class: "r-figure r-chart" }, picture,
      el("div", { class: "r-foot" }, said, save), ofSample(view)),
    table(removed, VS, thresholds),
  ];
}

/**
 * @param {number} n
 * @param {number} gone
 * @param {number} VS
 * @param {number | null | undefined} threshold
 */
function sentence(n, gone, VS, threshold) {
  if (!gone) return `All kept: ${score(VS)} effectively different.`;
  const from = isNumber(threshold) ? `, one sample of each cluster kept, similarity from ${alike(threshold)}` : "";
  return `Without ${some(gone, "sample")}: ${score(VS)} of ${count(n - gone)} effectively different${from}.`;
}

/**
 * @param {number[]} places
 * @param {number} wanted
 */
function nearest(places, wanted) {
  let best = 0;
  places.forEach((at, i) => {
    if (Math.abs(at - wanted) < Math.abs(places[best] - wanted)) best = i;
  });
  return best;
}

/**
 * Makes a table of the same numbers for those who do not see the picture; at most twenty rows.
 * @param {number[]} removed
 * @param {number[]} VS
 * @param {Thinning["thresholds"]} thresholds
 */
function table(removed, VS, thresholds) {
  const every = Math.ceil(removed.length / 20);
  const rows = [...removed.keys()].filter((i) => i % every === 0 || i === removed.length - 1);
  return el("div", { class: "visually-hidden" },
    el("table", {},
      el("caption", {}, "The score when the most redundant are removed"),
      heads(["removed"], ["effectively different"], ["alike from"]),
      el("tbody", {}, ...rows.map((i) => el("tr", {},
        el("th", { scope: "row" }, count(removed[i])), el("td", {}, score(VS[i])), el(
          "td",
          {},
          isNumber(thresholds?.[i]) ? alike(thresholds[i]) : "–",
        ))))));
}
