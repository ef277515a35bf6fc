/** What if the most redundant go: the score of what is left, asked for when it is opened. */

import { alike, count, el, score, shape, some } from "../dom.js";
import { fetched } from "./fetched.js";
import { explorable } from "./explore.js";
import { heads } from "./heads.js";

const WIDE = 400;
const HIGH = 170;
const LEFT = 48;
const RIGHT = 10;
const TOP = 12;
const FOOT = 34;

/** The section; null where nothing can go. */
export function thinning(view) {
  if (view.size < 3) return null;
  const body = el("div", {}, el("p", { class: "r-hint" }, "Working it out …"));
  const summary = el("summary", {}, "What if the most redundant were removed?");
  return fetched(view, "thinning", summary, body, (answer) => chart(view, answer));
}

function chart(view, { removed, VS, thresholds }) {
  if (!removed?.length) return [el("p", { class: "r-hint" }, "No sample can be removed.")];
  const [most, top] = [removed.at(-1) || 1, Math.max(...VS, 1)];
  const x = (k) => LEFT + ((WIDE - LEFT - RIGHT) * k) / most;
  const y = (value) => TOP + (HIGH - TOP - FOOT) * (1 - value / top);
  const said = el("p", { class: "r-readout", "aria-live": "polite" });
  const spot = shape("circle", { class: "r-spot", r: 5 });
  const rule = shape("line", { class: "r-rule", y1: TOP, y2: HIGH - FOOT });
  const words = (i) => sentence(view.size, removed[i], VS[i], thresholds?.[i]);
  const show = (i) => {
    spot.setAttribute("cx", x(removed[i]));
    spot.setAttribute("cy", y(VS[i]));
    rule.setAttribute("x1", x(removed[i]));
    rule.setAttribute("x2", x(removed[i]));
    said.textContent = words(i);
  };
  const picture = el("div", {
    class: "r-line-chart",
    tabindex: 0,
    role: "application",
    "aria-roledescription": "chart",
    "aria-label": `The score when the most redundant are removed, from ${words(0)} Arrow keys go along it.`,
  },
    shape("svg", {
      viewBox: `0 0 ${WIDE} ${HIGH}`,
      "aria-hidden": "true",
    }, ...axes(x, y, most, top),
      shape(
        "polyline",
        { class: "r-curve", points: removed.map((k, i) => `${x(k)},${y(VS[i])}`).join(" ") },
      ), rule, spot));
  const closest = (share) => nearest(removed.map(x), share * WIDE);
  explorable(picture, {
    at: closest,
    step: (i, dx, dy) => Math.max(0, Math.min(removed.length - 1, i + dx - dy)),
    ends: [0, removed.length - 1],
    show,
  });
  show(0);
  const part = view.size < view.R.n ? el("p", { class: "r-small" }, `This is for a random ${count(view.size)} of the samples.`) : "";
  return [part, el("figure", { class: "r-figure" }, picture, said), table(removed, VS, thresholds)];
}

function sentence(n, gone, VS, threshold) {
  if (!gone) return `All kept: ${score(VS)} effectively different.`;
  const from = Number.isFinite(threshold) ? `, one sample of each cluster kept, similarity from ${alike(threshold)}` : "";
  return `Without ${some(gone, "sample")}: ${score(VS)} of ${count(n - gone)} effectively different${from}.`;
}

function axes(x, y, most, top) {
  const middle = Math.round(most / 2);
  const at = [0, ...(middle > 0 && middle < most ? [middle] : []), most];
  return [
    shape(
      "line",
      { class: "r-axis", x1: LEFT, x2: WIDE - RIGHT, y1: HIGH - FOOT, y2: HIGH - FOOT },
    ),
    ...at.map((k) => shape(
      "text",
      {
        class: "r-tick",
        x: x(k),
        y: HIGH - FOOT + 15,
        "text-anchor": k === most ? "end" : "middle",
      },
      count(k),
    )),
    shape(
      "text",
      { class: "r-tick", x: (WIDE + LEFT) / 2, y: HIGH - 4, "text-anchor": "middle" },
      "samples taken away",
    ),
    ...[0, top].map((value) => shape(
      "text",
      { class: "r-tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" },
      value ? score(value) : "0",
    )),
  ];
}

function nearest(places, wanted) {
  let best = 0;
  places.forEach((at, i) => {
    if (Math.abs(at - wanted) < Math.abs(places[best] - wanted)) best = i;
  });
  return best;
}

/** The same numbers for those who do not see the picture; at most twenty rows of them. */
function table(removed, VS, thresholds) {
  const every = Math.ceil(removed.length / 20);
  const rows = removed.map((k, i) => i).filter((i) => i % every === 0 || i === removed.length - 1);
  return el("div", { class: "visually-hidden" },
    el("table", {},
      el("caption", {}, "The score when the most redundant are removed"),
      heads(["taken away"], ["effectively different"], ["alike from"]),
      el("tbody", {}, ...rows.map((i) => el("tr", {},
        el("th", { scope: "row" }, count(removed[i])), el("td", {}, score(VS[i])), el(
          "td",
          {},
          Number.isFinite(thresholds?.[i]) ? alike(thresholds[i]) : "–",
        ))))));
}
