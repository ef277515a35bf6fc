/** What outlives a reload: the address (for links, too), and this browser tab's own storage. */

const KEPT = "vendiscore";
const LONG = 1000; // characters of a prompt that an address has room for
export const KINDS = ["texts", "images", "molecules", "vectors"];

/**
 * The hash of a state {tab, kernel, options, q, example, threshold, prompt}, as
 * `kind=texts&kernel=ngram_overlap&o.ns=1,2&q=2`.
 */
export function toHash(state) {
  const hash = new URLSearchParams();
  hash.set("kind", state.tab);
  if (state.kernel) hash.set("kernel", state.kernel);
  for (const [name, value] of Object.entries(state.options ?? {})) hash.set(`o.${name}`, value);
  if (Number.isFinite(state.q)) hash.set("q", state.q);
  if (state.example) hash.set("example", state.example);
  if (state.threshold) hash.set("threshold", state.threshold);
  if (state.prompt && state.prompt.length <= LONG) hash.set("prompt", state.prompt);
  return `#${hash.toString().replaceAll("%2C", ",")}`;
}

/** What a hash says; null where it is not one of ours. Values of options stay text. */
export function fromHash(text) {
  const hash = new URLSearchParams(text.replace(/^#/, ""));
  const tab = hash.get("kind");
  if (tab !== "compare" && !KINDS.includes(tab)) return null;
  const options = {};
  for (const [name, value] of hash) if (name.startsWith("o.")) options[name.slice(2)] = value;
  return {
    tab,
    kernel: hash.get("kernel") ?? "",
    options,
    q: number(hash.get("q")),
    example: hash.get("example") ?? "",
    threshold: number(hash.get("threshold")),
    prompt: hash.get("prompt") ?? "",
  };
}

function number(text) {
  const value = Number.parseFloat(text ?? "");
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** Keeps a record over a reload; without its result where that is more than a browser takes. */
export function keep(record) {
  for (const kept of [record, { ...record, result: null }]) {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(kept));
      return;
    } catch {
      // No room, or no storage: a frame of another site may have none.
    }
  }
}

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

/** Of the options of a kernel: those chosen, or else their usual values. */
export function optionsOf(kernel, chosen = {}) {
  const pairs = (kernel?.options ?? []).map((option) => {
    const value = chosen[option.name];
    return [option.name, value === undefined ? option.value : typed(option, value)];
  });
  return Object.fromEntries(pairs);
}

/** The value of an option that may come from the address, where everything is text. */
function typed(option, value) {
  if (option.type === "number") return number(String(value)) ?? option.value;
  if (option.type === "choice") {
    return option.choices.find((choice) => String(choice) === String(value)) ?? option.value;
  }
  const asked = Array.isArray(value) ? value.map(String) : String(value).split(",");
  return option.choices.filter((choice) => asked.includes(String(choice)));
}
