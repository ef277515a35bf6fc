/** A result as it is looked at: its themes, its near-duplicates, and listeners to changes. */

import { cut } from "../dom.js";
import { cutTree } from "./tree.js";

/**
 * Makes a view of a result; `signal` ends its listeners when another takes its place.
 * @template {Result | Compared | Values} Of
 * @param {Of} R
 * @param {Line} line
 * @param {AbortSignal} signal
 * @returns {View<Of>}
 */
export function makeView(R, { call, follow, announce }, signal) {
  const one = /** @type {Partial<Result>} */ (R);
  const samples = /** @type {Columns} */ (one.samples);
  /** @type {Record<string, ((news: any) => void)[]>} */
  const heard = { groups: [], jump: [], phrase: [], seek: [], slide: [], second: [], themes: [] };
  /** @type {View<Of>} */
  const view = {
    R,
    signal,
    announce,
    say: announce,
    size: samples?.place.length ?? 0,
    threshold: one.threshold ?? 1,
    boundary: [],
    lowest: Math.min(Math.ceil(100 * (one.floor ?? 0)) / 100, one.threshold ?? 1),
    drawings: null,
    groups: [],
    alone: [],
    without: one.without,
    groupOf: new Int32Array(0),
    on(name, run) {
      heard[name].push(run);
    },
    tell: (name, news) => heard[name].forEach((run) => run(news)),
    setGroups(answer) {
      take(view, answer);
      view.tell("groups", answer);
    },
    phrase: null,
    setPhrase(pattern) {
      view.phrase = pattern;
      view.tell("phrase", pattern);
    },
    themes: { codes: [], typical: [] },
    setThemes(many) {
      if (one.themes) view.themes = cutTree(one.themes, view.size, many);
      view.tell("themes", view.themes);
    },
    where: (i) => called(samples.place[i]),
    mark: (i) => cut(view.where(i).split("/").at(-1) ?? "", 28),
    text: (i) => samples.text?.[i] ?? view.where(i),
    words: (i) => named(samples.name?.[i], view.text(i)),
    hasText: Boolean(samples?.text),
    asked: (path, body) => call(`/page/${path}`, { id: R.id, ...body }),
    followed: (path, said) => follow(`/page/${path}`, { id: R.id }, { signal, said }),
  };
  take(view, one);
  if (one.themes) view.setThemes(one.themes.count);
  return view;
}

/**
 * Writes the name of a molecule before its SMILES.
 * @param {string | null | undefined} name
 * @param {string} text
 */
export function named(name, text) {
  return name ? `${name}: ${text}` : text;
}

/**
 * Writes a place in words.
 * @param {number | string} place
 */
export function called(place) {
  return /^\d+$/.test(String(place)) ? `#${place}` : String(place);
}

/**
 * Takes clusters of two and more, largest first; the other samples are alone.
 * @param {Grouped & {size: number}} view
 * @param {Partial<Clusters>} answer
 */
function take(view, { threshold, boundary, groups, without }) {
  const all = groups ?? [];
  view.threshold = threshold ?? view.threshold;
  view.boundary = boundary ?? [];
  view.without = without;
  view.groups = all.filter(({ rest }) => rest.length > 0);
  view.groupOf = new Int32Array(view.size).fill(-1);
  view.groups.forEach(({ keep, rest }, number) => {
    view.groupOf[keep] = number;
    for (const i of rest) view.groupOf[i] = number;
  });
  view.alone = [];
  view.groupOf.forEach((number, i) => number < 0 && view.alone.push(i));
}

/**
 * Returns the samples that are left when one of each cluster is kept, in the visitor's order.
 * @param {View} view
 */
export function kept(view) {
  return [...view.groups.map(({ keep }) => keep), ...view.alone].sort((a, b) => a - b);
}
