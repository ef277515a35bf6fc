/** One result as it is looked at: its groups at a threshold, and who wants to hear of changes. */

import { alike, cut } from "../dom.js";

/**
 * A view of a result R. `tools` are `call` (a POST of JSON), `follow` (one that tells its
 * progress) and `announce` (words for the live region); `signal` ends its listeners when another
 * result takes its place.
 */
export function makeView(R, { call, follow, announce }, signal) {
  const heard = { groups: [], jump: [], slide: [], second: [] };
  const view = {
    R,
    signal,
    announce,
    size: R.samples?.place?.length ?? 0,
    threshold: R.threshold,
    /** The threshold that was found from the samples; null where the visitor chose. */
    automatic: R.automatic ?? null,
    /** The least similarity that the slider and the histogram show. */
    lowest: Math.min(Math.ceil(100 * (R.floor ?? 0)) / 100, R.threshold),
    groups: [],
    alone: [],
    without: R.without,
    groupOf: new Int32Array(0),
    /**
     * Hear of "groups" (found anew), "slide" (the threshold moves), "jump" (to a sample), "second"
     * (the second number is there).
     */
    on: (what, run) => heard[what].push(run),
    tell: (what, ...given) => heard[what].forEach((run) => run(...given)),
    setGroups(answer) {
      take(view, answer);
      view.tell("groups", answer);
    },
    /** A sample's place as the visitor counts: "#7", or the name of its file. */
    where: (i) => called(R.samples.place[i]),
    /** The same where there is little room: a file without its folders. */
    mark: (i) => cut(view.where(i).split("/").at(-1), 28),
    /** A sample in words, whatever it is. */
    text: (i) => R.samples.text?.[i] ?? view.where(i),
    /** Whether the words of a sample say more than its place. */
    hasText: Boolean(R.samples?.text),
    asked: (path, body) => call(`/page/${path}`, { id: R.id, ...body }),
    followed: (path, said) => follow(`/page/${path}`, { id: R.id }, { signal, said }),
  };
  take(view, R);
  return view;
}

/** A threshold, and whether it is the automatic one. */
export function level(view, threshold) {
  return `${alike(threshold)}${threshold === view.automatic ? " (automatic)" : ""}`;
}

/** A place in words. */
export function called(place) {
  return /^\d+$/.test(String(place)) ? `#${place}` : String(place);
}

/** Groups are those of two and more, largest first; the others are alone. */
function take(view, { threshold, groups, without }) {
  const all = groups ?? [];
  view.threshold = threshold;
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

/** The samples that are left when one of each group is kept, in the visitor's order. */
export function kept(view) {
  return [...view.groups.map(({ keep }) => keep), ...view.alone].sort((a, b) => a - b);
}
