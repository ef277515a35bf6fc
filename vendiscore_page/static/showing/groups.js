/** Clusters of samples that are alike, from a similarity that is slid. */

import { spot } from "./colours.js";
import { alike, count, el, later, newId, score, some, trouble } from "../dom.js";
import { histogram } from "./histogram.js";
import { more } from "./more.js";
import { brief, full, place, thumbnail } from "./sample.js";
import { saveKept } from "./saves.js";

const PICTURES = 4; // of a group that are seen before it is opened
const PAUSE = 120; // ms that the slider rests before the server is asked

/**
 * Makes the section of the clusters; null where there are no two samples to look at.
 * @param {View} view
 */
export function groups(view) {
  if (view.size < 2) return null;
  const list = el("div", { class: "r-groups" });
  const said = el("p", { class: "r-small", "aria-live": "polite" });
  const edge = el("tbody");
  const renew = () => {
    edge.replaceChildren(...view.boundary.map((pair) => edgeRow(view, pair)));
    said.textContent = told(view);
    const open = [...list.querySelectorAll("details")].filter((each) => each.open).map(({ dataset }) => dataset.of);
    list.replaceChildren(...listed(view));
    for (const details of list.querySelectorAll("details")) details.open = open.includes(details.dataset.of);
  };
  renew();
  view.on("groups", renew);
  return el("section", {},
    el("div", { class: "r-head" }, el(
      "h3",
      {},
      el("span", { class: "step", "aria-hidden": "true" }, "3"),
      "Clusters",
    ),
      el(
        "button",
        {
          type: "button",
          class: "r-button",
          onclick: () => saveKept(view),
        },
        "save one of each cluster",
      )),
    slider(view, list),
    histogram(view),
    el("p", { class: "r-small" }, repeated(view)),
    el("details", {},
      el("summary", {}, "The pairs next to this similarity"),
      el("div", { class: "r-scroll" }, el("table", { class: "r-table r-plain" },
        el("thead", {}, el("tr", {}, ...["similarity", "one", "the other", "counted as"].map((head) => el("th", { scope: "col" }, head)))),
        edge))),
    said,
    list,
  );
}

/** @param {View} view */
function repeated({ R }) {
  const known = R.repeats.filter(([, repeats]) => repeats !== null);
  return `Samples that repeat another: ${known.map(([from, repeats]) => `${count(repeats ?? 0)} at ${alike(from)}`).join(", ")}.`;
}

/**
 * @param {View} view
 * @param {[number, number, number]} pair
 */
function edgeRow(view, [i, j, similarity]) {
  const cells = [i, j].map((each) => el("td", {}, place(view, each), thumbnail(view, each), brief(view, each, 200)));
  const side = similarity >= view.threshold - 1e-9 ? "alike" : "not";
  return el("tr", {}, el("td", {}, similarity.toFixed(3)), ...cells, el("td", {}, side));
}

/**
 * @param {View} view
 * @param {HTMLElement} list
 */
function slider(view, list) {
  const id = newId("alike");
  const shown = el("output", { for: id }, alike(view.threshold));
  const input = el(
    "input",
    {
      type: "range",
      id,
      min: view.lowest,
      max: 1,
      step: Number.isInteger(Math.round(1e6 * view.threshold) / 1e4) ? 0.01 : 0.001,
      value: view.threshold,
    },
  );
  const problem = el("p", { class: "r-problem", hidden: true, role: "alert" });
  let asked = 0;
  const ask = later(async () => {
    const mine = asked;
    list.setAttribute("aria-busy", "true");
    try {
      const answer = await view.asked("groups", { threshold: Number(input.value) });
      if (mine !== asked || view.signal.aborted) return;
      problem.hidden = true;
      view.setGroups(answer);
    } catch (failure) {
      if (mine !== asked) return;
      problem.textContent = trouble(failure);
      problem.hidden = false;
    }
    list.removeAttribute("aria-busy");
  }, PAUSE);
  input.addEventListener("input", () => {
    asked += 1; // an answer that is under way is of a threshold before
    shown.textContent = alike(Number(input.value));
    view.tell("slide", Number(input.value));
    ask();
  });
  return el(
    "div",
    { class: "r-slider" },
    el("label", { for: id }, "alike from"),
    input,
    shown,
    problem,
  );
}

/** @param {View} view */
function told({ groups: found, alone, without, R }) {
  if (!found.length) return `No two samples are that similar: all ${count(R.samples.place.length)} stand alone.`;
  const part = without && without.of < R.n ? ` of the random ${count(without.of)}` : "";
  const left = without ? ` Kept one of each${part}: ${count(without.left)}, of which ${score(without.VS)} effectively different.` : "";
  return `${some(found.length, "cluster")}, ${alone.length ? `${count(alone.length)} alone` : "none alone"}.${left}`;
}

/** @param {View} view */
function listed(view) {
  const found = view.groups.map((group, number) => () => opened(view, group, number));
  if (view.alone.length) found.push(() => lonely(view));
  return more(found, "clusters");
}

/**
 * @param {View} view
 * @param {Cluster} cluster
 * @param {number} number
 */
function opened(view, { keep, rest }, number) {
  const summary = el("summary", {},
    spot(number), el("b", { class: "r-times" }, `${count(rest.length + 1)} ×`),
    ...pictures(view, [keep, ...rest]), view.R.samples.image ? null : brief(view, keep, 200));
  return unfolded(keep, summary, emptyList(view), () => members(view, [keep, ...rest], "kept"));
}

/**
 * Makes the first few pictures of a cluster, where its samples have some.
 * @param {View} view
 * @param {number[]} samples
 */
function pictures(view, samples) {
  const drawn = samples.slice(0, view.R.kind === "images" ? PICTURES : 1);
  return drawn.map((i) => thumbnail(view, i, view.where(i))).filter(Boolean);
}

/** @param {View} view */
function lonely(view) {
  const { alone } = view;
  const [first] = alone;
  const words = alone.length === 1 ? "1 alone:" : `${count(alone.length)} alone`;
  const summary = el(
    "summary",
    {},
    spot(-1),
    el("b", { class: "r-times" }, words),
    alone.length === 1 ? brief(view, first, 200) : null,
  );
  return unfolded("alone", summary, emptyList(view), () => members(view, alone, ""));
}

/**
 * Makes a list of samples; pictures stand side by side.
 * @param {View} view
 */
function emptyList(view) {
  return el("ul", { class: view.R.kind === "images" ? "r-members r-tiles" : "r-members" });
}

/**
 * Makes details whose body is made when they are opened for the first time.
 * @param {number | string} of
 * @param {HTMLElement} summary
 * @param {HTMLElement} body
 * @param {() => HTMLElement[]} make
 */
function unfolded(of, summary, body, make) {
  const details = el("details", { class: "r-group", "data-of": of }, summary, body);
  details.addEventListener("toggle", () => body.childElementCount || body.append(...make()));
  return details;
}

/**
 * Makes samples in full, the first with a word near its place.
 * @param {View} view
 * @param {number[]} samples
 * @param {string} tag
 */
function members(view, samples, tag) {
  const makers = samples.map((i, at) => () => member(view, i, at === 0 ? tag : ""));
  return more(makers, "samples", (button) => el("li", {}, button));
}

/**
 * @param {View} view
 * @param {number} i
 * @param {string} tag
 */
function member(view, i, tag) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "r-item-head" },
      place(view, i),
      tag ? el("span", { class: "r-tag" }, tag) : null,
    ),
    full(view, i),
  );
}
