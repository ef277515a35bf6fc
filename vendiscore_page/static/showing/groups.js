/** Near-duplicates: samples that are alike from a similarity that is set. */

import { alike, count, el, later, newId, score, some, trouble, vendi } from "../dom.js";
import { heads } from "./heads.js";
import { histogram } from "./histogram.js";
import { more } from "./more.js";
import { brief, full, place, thumbnail } from "./sample.js";
import { saveKept } from "./saves.js";
import { subset } from "./subset.js";
import { kept } from "./view.js";

const PICTURES = 4; // of a group that are seen before it is opened
const PAUSE = 120; // ms that the slider rests before the server is asked
const FINE = 1000; // steps of similarity in which a pair moves the slider

/**
 * Makes the section of near-duplicates; null where there are no two samples to look at.
 * @param {View} view
 */
export function groups(view) {
  if (view.size < 2) return null;
  const list = el("div", { class: "r-groups" });
  const said = el("p", { class: "r-small", "aria-live": "polite" });
  const save = el("button", { type: "button", class: "r-button", onclick: () => saveKept(view, kept(view)) });
  const edge = el("tbody");
  const { node, slide } = slider(view, list);
  const renew = () => {
    edge.replaceChildren(...view.boundary.map((pair) => edgeRow(view, pair, slide)));
    said.textContent = told(view);
    save.textContent = `Save ${count(kept(view).length)} samples without near-duplicates (CSV)`;
    save.hidden = !view.groups.length;
    const open = [...list.querySelectorAll("details")].filter((each) => each.open).map(({ dataset }) => dataset.of);
    list.replaceChildren(...listed(view));
    for (const details of list.querySelectorAll("details")) details.open = open.includes(details.dataset.of);
  };
  renew();
  view.on("groups", renew);
  return el("section", {},
    el("h3", {}, "Near-duplicates"),
    el("div", { class: "r-halves" },
      el("div", {}, node, histogram(view), el("p", { class: "r-small" }, repeated(view))),
      el("div", {}, said, el("p", {}, save), list, subset(view))),
    el("details", { class: "r-details" },
      el("summary", {}, "Pairs closest to the threshold: are they duplicates?"),
      el("table", { class: "r-table r-plain r-cards r-edge" }, heads(["similarity", "r-digits"], ["first sample"], ["second sample"], ["duplicates?"]), edge)));
}

/** @param {View} view */
function repeated({ R }) {
  const known = R.repeats.filter(([, repeats]) => repeats !== null);
  return `Number of near-duplicates by similarity threshold: ${known.map(([from, repeats]) => `${count(repeats ?? 0)} at ${alike(from)}`).join(", ")}.`;
}

/**
 * Shows a pair with two buttons: the answer that is not pressed moves the similarity past the pair.
 * @param {View} view
 * @param {[number, number, number]} pair
 * @param {(threshold: number) => void} slide
 */
function edgeRow(view, [i, j, similarity], slide) {
  const cells = [i, j].map((each) => el("td", {}, place(view, each), " ", thumbnail(view, each), view.hasText ? brief(view, each, 200) : null));
  const same = similarity >= view.threshold - 1e-9;
  const at = Math.floor(similarity * FINE + 1e-6) / FINE;
  /**
   * @param {string} words
   * @param {boolean} pressed
   * @param {number} to
   */
  const answer = (words, pressed, to) => el("button", {
    type: "button", "aria-pressed": String(pressed), disabled: to > 1, onclick: () => pressed || slide(to),
  }, words);
  return el("tr", {}, el("td", { class: "r-digits" }, similarity.toFixed(3)), ...cells, el("td", {}, el(
    "div",
    { class: "r-switch" },
    answer("duplicates", same, at),
    answer("different", !same, at + 1 / FINE),
  )));
}

/**
 * @param {View} view
 * @param {HTMLElement} list
 */
function slider(view, list) {
  const id = newId("alike");
  const shown = el("output", { for: id }, fine(view.threshold));
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
    shown.textContent = fine(Number(input.value));
    view.tell("slide", Number(input.value));
    ask();
  });
  const node = el("div", { class: "r-slider" }, el("label", { for: id }, "similarity threshold"), input, shown, problem);
  /** @param {number} threshold */
  const slide = (threshold) => {
    input.step = String(1 / FINE);
    input.value = String(threshold);
    input.dispatchEvent(new Event("input"));
  };
  return { node, slide };
}

/** @param {number} value */
const fine = (value) => value.toFixed(Number.isInteger(Math.round(1e4 * value) / 100) ? 2 : 3);

/** @param {View} view */
function told({ groups: found, size, without, R }) {
  if (!found.length) return `No two of the ${count(size)} samples reach this similarity threshold.`;
  const part = size < R.n ? ` in the random subset of ${count(size)}` : "";
  const left = without ? ` Without near-duplicates${part}: ${some(without.left, "sample")}, effective number ${score(vendi(without))}.` : "";
  return `${some(found.length, "group")} of near-duplicates.${left}`;
}

/** @param {View} view */
function listed(view) {
  return more(view.groups.map((group) => () => opened(view, group)), "groups");
}

/**
 * @param {View} view
 * @param {Cluster} cluster
 */
function opened(view, { keep, rest }) {
  const isOfImages = view.R.kind === "images";
  const faces = [keep, ...rest].slice(0, isOfImages ? PICTURES : 1);
  const body = el("ul", { class: isOfImages ? "r-members r-tiles" : "r-members" });
  const details = el("details", { class: "r-group", "data-of": keep },
    el("summary", {},
      el("b", { class: "r-times" }, `${count(rest.length + 1)} ×`),
      ...faces.map((i) => thumbnail(view, i, view.where(i))), isOfImages ? null : brief(view, keep, 200)),
    body);
  details.addEventListener("toggle", () => {
    const makers = [keep, ...rest].map((i) => () => el("li", {},
      el("div", { class: "r-item-head" }, place(view, i), i === keep ? el("span", { class: "r-tag" }, "kept") : null),
      full(view, i)));
    if (!body.childElementCount) body.append(...more(makers, "samples", (button) => el("li", {}, button)));
  });
  return details;
}
