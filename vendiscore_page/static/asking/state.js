/** State that outlives a reload: the address (for links, too), and the tab's own storage. */

import { isNumber } from "../dom.js";

const KEPT = "vendiscore";
const LONG = 1000; // characters of a prompt or of arguments that an address has room for
/** @type {Kind[]} */
export const KINDS = ["texts", "images", "molecules", "vectors"];

/**
 * Writes a state as a hash such as `kind=texts&kernel=ngram_overlap&o.ns=1,2&q=2`.
 * @param {Partial<Link>} state
 */
export function toHash(state) {
  const hash = new URLSearchParams();
  hash.set("kind", state.tab ?? "");
  if (state.kernel) hash.set("kernel", state.kernel);
  for (const [name, value] of Object.entries(state.options ?? {})) hash.set(`o.${name}`, String(value));
  if (isNumber(state.q)) hash.set("q", String(state.q));
  if (state.arguments && state.arguments.length <= LONG) hash.set("arguments", state.arguments);
  if (state.example) hash.set("example", state.example);
  if (state.threshold) hash.set("threshold", String(state.threshold));
  if (state.prompt && state.prompt.length <= LONG) hash.set("prompt", state.prompt);
  return `#${hash.toString().replaceAll("%2C", ",")}`;
}

/**
 * Reads a state from a hash; null where it is not one of ours. Values of options stay text.
 * @param {string} text
 * @returns {Link | null}
 */
export function fromHash(text) {
  const hash = new URLSearchParams(text.replace(/^#/, ""));
  const kind = hash.get("kind");
  const tab = kind === "compare" ? kind : KINDS.find((each) => each === kind);
  if (!tab) return null;
  /** @param {string} name */
  const word = (name) => hash.get(name) ?? "";
  const options = [...hash].filter(([name]) => name.startsWith("o."));
  return {
    tab,
    kernel: word("kernel"),
    options: Object.fromEntries(options.map(([name, value]) => [name.slice(2), value])),
    q: number(word("q")),
    arguments: word("arguments"),
    example: word("example"),
    threshold: number(word("threshold")),
    prompt: word("prompt"),
  };
}

/** @param {string} text */
function number(text) {
  const value = Number.parseFloat(text);
  return isNumber(value) && value >= 0 ? value : null;
}

/**
 * Keeps a record over a reload; without its result where that is more than a browser takes.
 * @param {Kept} record
 */
export function keep(record) {
  for (const some of [record, { ...record, result: null }]) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(some));
      return;
    } catch {
      // No room, or no storage: a frame of another site may have none.
    }
  }
}

/**
 * Reads the record that was kept; null where there is none.
 * @returns {Kept | null}
 */
export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Returns the options of a kernel: their chosen values, or else their usual ones.
 * @param {Pick<KernelEntry, "options"> | null} [kernel]
 * @param {OptionValues} [chosen]
 * @returns {OptionValues}
 */
export function optionsOf(kernel, chosen = {}) {
  const options = kernel?.options ?? [];
  return Object.fromEntries(options.map((each) => [each.name, typed(each, chosen[each.name] ?? each.value)]));
}

/**
 * @param {Option} option
 * @param {OptionValue} value
 */
function typed(option, value) {
  if (option.type === "number") return number(String(value)) ?? option.value;
  const asked = [value].flat().join(",").split(",");
  const chosen = (option.choices ?? []).filter((choice) => asked.includes(String(choice)));
  return option.type === "choice" ? (chosen[0] ?? option.value) : chosen;
}
