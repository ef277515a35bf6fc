/** The state of the page: its tab, and what is given and set on each. */

import { takesPrompt } from "./prompt.js";
import { KINDS, optionsOf } from "./state.js";

const UNSET = { kernel: "", q: null };

/**
 * `givens` by kind; `sets` are those of the comparison; `settings` {kernel, options, q} by tab, of
 * which what nobody has set is null: it is not sent, and the server takes its own default;
 * `lent` the kernels that were set before an example brought its own;
 * `chosen`: whether the visitor chose the tab; `menu` as the server gives it.
 */
export const page = {
  tab: "texts",
  chosen: false,
  menu: null,
  loading: Promise.resolve(),
  thresholds: {},
  givens: {},
  sets: null,
  lent: {},
  settings: { compare: { ...UNSET, options: {}, permutations: null } },
};
for (const kind of KINDS) page.settings[kind] = { ...UNSET, options: {} };

const NONE = [];

/** The kernels of a tab and the usual one; none before there is a menu. */
export function kernelsOf(tab) {
  const kind = tab === "compare" ? page.sets.kind || "texts" : tab;
  const found = page.menu?.kinds[kind];
  const without = tab === "compare" ? ({ compares }) => compares : () => true;
  page.listed ??= new Map();
  const key = `${tab} ${kind}`;
  if (found && !page.listed.has(key)) page.listed.set(key, found.kernels.filter(without));
  return { kernels: page.listed.get(key) ?? NONE, usual: found?.default ?? "" };
}

/** The prompt of a tab, and whether one can be taken out of its samples. */
export function promptOf(tab) {
  const { prompt } = page.givens[tab] ?? page.sets;
  const { kernels } = kernelsOf(tab);
  const kernel = kernels.find((each) => each.kernel === page.settings[tab].kernel) ?? kernels[0];
  const from = tab === "compare" ? page.sets.filled().map(({ given }) => given) : [page.givens[tab]];
  const reads = from.filter(({ source }) => source).map(({ read, before }) => read ?? before);
  return { prompt, offered: takesPrompt(kernel, reads, prompt) };
}

/** What is asked of the server beside the samples. */
export function asked(tab) {
  const { kernel, options, q, permutations } = page.settings[tab];
  const entry = kernelsOf(tab).kernels.find((each) => each.kernel === kernel);
  const set = Object.entries({ q, permutations }).filter(([, value]) => Number.isFinite(value));
  const { prompt, offered } = promptOf(tab);
  const prompts = offered && prompt.trim() ? { prompts: prompt } : {};
  return { kernel, options: optionsOf(entry, options[kernel]), ...Object.fromEntries(set), ...prompts };
}

/** What a result of a tab would be of now: other texts for other samples or settings. */
export function now(tab) {
  const data = tab === "compare" ? page.sets.stamp() : String(page.givens[tab].version);
  return { data, settings: JSON.stringify(asked(tab)) };
}

/** Examples bring the kernel they are meant for, which the visitor's own samples do not inherit. */
export function lend(tab, kernel) {
  const settings = page.settings[tab];
  page.lent[tab] ??= settings.kernel;
  settings.kernel = kernel;
}

/** Whether a kernel that came with an example has gone with it. */
export function takeBack(tab) {
  const own = page.lent[tab];
  if (own === undefined || page.givens[tab]?.source === "example") return false;
  page.settings[tab].kernel = own;
  delete page.lent[tab];
  return true;
}
