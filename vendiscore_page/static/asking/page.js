/** The state of the page: its tab, and the samples and settings of each. */

import { takesPrompt } from "./prompt.js";
import { optionsOf } from "./state.js";

/** @returns {Settings} */
const unset = () => ({ kernel: "", q: null, options: {}, arguments: "" });
const settings = {
  texts: unset(),
  images: unset(),
  molecules: unset(),
  vectors: unset(),
  compare: unset(),
};

/** @type {Page} */
export const page = {
  tab: "texts",
  chosen: false,
  menu: null,
  loading: Promise.resolve(),
  thresholds: {},
  givens: /** @type {Page["givens"]} */ ({}), // filled by main.js, as are the sets
  sets: /** @type {Sets} */ (/** @type {unknown} */ (null)),
  lent: {},
  example: null,
  settings,
  listed: new Map(),
  drawn: null,
};

/** @type {KernelEntry[]} */
const NONE = [];

/**
 * Returns the samples of a tab, which has a prompt.
 * @param {Tab} tab
 */
export function subjectOf(tab) {
  return tab === "compare" ? page.sets : page.givens[tab];
}

/**
 * Returns the kernels of a tab, the usual one, absent ones and a note on these; none before there
 * is a menu.
 * @param {Tab} tab
 */
export function kernelsOf(tab) {
  /** @type {Kind} */
  const kind = tab === "compare" ? page.sets.kind || "texts" : tab;
  const found = page.menu?.kinds[kind];
  const key = `${tab} ${kind}`;
  if (found && !page.listed.has(key)) {
    page.listed.set(key, found.kernels.filter(({ compares }) => compares || tab !== "compare"));
  }
  const { absent = [], note = "" } = found ?? {};
  return { kind, absent, note, kernels: page.listed.get(key) ?? NONE, usual: found?.default ?? "" };
}

/**
 * Returns the prompt of a tab, and whether one can be taken out of its samples.
 * @param {Tab} tab
 */
export function promptOf(tab) {
  const { prompt } = subjectOf(tab);
  const { kernels } = kernelsOf(tab);
  const kernel = kernels.find((each) => each.kernel === page.settings[tab].kernel) ?? kernels[0];
  const reads = givensOf(tab).filter(({ source }) => source).map(({ read, before }) => read ?? before);
  return { prompt, offered: takesPrompt(kernel, reads, prompt) };
}

/**
 * Returns what is asked of the server beside the samples.
 * @param {Tab} tab
 */
export function asked(tab) {
  const { kernel, options, q, arguments: text } = page.settings[tab];
  if (text) return { arguments: text };
  const entry = kernelsOf(tab).kernels.find((each) => each.kernel === kernel);
  const { prompt, offered } = promptOf(tab);
  return {
    kernel,
    options: optionsOf(entry, options[kernel]),
    ...(q === null ? {} : { q }),
    ...(offered && prompt.trim() ? { prompts: prompt } : {}),
  };
}

/**
 * Tells what a result of a tab would be of now.
 * @param {Tab} tab
 * @returns {Of}
 */
export function now(tab) {
  const data = tab === "compare" ? page.sets.stamp() : String(page.givens[tab].version);
  return { data, settings: JSON.stringify(asked(tab)) };
}

/**
 * Sets the kernel that an example or a matrix is meant for; other samples do not inherit it.
 * @param {Tab} tab
 * @param {string} kernel
 */
export function lend(tab, kernel) {
  if (page.example?.tabs) page.example.tabs = page.example.tabs.filter((each) => each !== tab);
  page.lent[tab] ??= page.settings[tab].kernel;
  page.settings[tab].kernel = kernel;
}

/**
 * Lends the kernel of the first example to the tabs of its kind, once there is a menu; returns
 * whether it has. Samples of the visitor do not inherit it.
 */
export function lendExample() {
  const { example, menu } = page;
  if (!example || example.tabs || !menu) return false;
  /** @type {Tab[]} */
  const tabs = [example.kind, "compare"];
  const free = tabs.filter((tab) => {
    const { kind, kernels } = kernelsOf(tab);
    const isOffered = kind === example.kind && kernels.some(({ kernel }) => kernel === example.kernel);
    return isOffered && !hasSamples(tab);
  });
  for (const tab of free) {
    page.settings[tab].kernel ||= kernelsOf(tab).usual;
    lend(tab, example.kernel);
  }
  example.tabs = free;
  return true;
}

/**
 * Takes a kernel back that came with an example or a matrix, and tells whether there was one.
 * @param {Tab} tab
 */
export function takeBack(tab) {
  const own = page.lent[tab];
  if (own === undefined) return false;
  const at = page.example?.tabs?.indexOf(tab) ?? -1;
  if (at < 0 ? givensOf(tab).some(brings) : !hasSamples(tab)) return false;
  if (at >= 0) page.example?.tabs?.splice(at, 1);
  page.settings[tab].kernel = own;
  delete page.lent[tab];
  return true;
}

/**
 * Lends the kernel that suits the samples of a tab if the default does not, once for each reading;
 * returns whether there is one.
 * @param {Tab} tab
 */
export function advise(tab) {
  let lends = false;
  for (const given of givensOf(tab)) {
    const { read } = given;
    if (!read || read.key === given.advised) continue;
    given.advised = read.key;
    if (!read.kernel) continue;
    lend(tab, read.kernel);
    lends = true;
  }
  return lends;
}

/**
 * Returns the samples of a tab, of several sets those that have some.
 * @param {Tab} tab
 */
export function givensOf(tab) {
  return tab === "compare" ? page.sets.filled().map(({ given }) => given) : [page.givens[tab]];
}

/** @param {Tab} tab */
const hasSamples = (tab) => givensOf(tab).some(({ source }) => source);

/** @param {Given} given */
const brings = ({ source, asked: { matrix }, read, before }) =>
  source === "example" || Boolean(matrix) || Boolean((read ?? before)?.kernel);
