/** The call that is computed, as text: in step with the controls, and editable. */

import { el } from "../dom.js";
import { call } from "./calls.js";
import { button } from "./parts.js";
import { optionsOf } from "./state.js";

const INFO = "The arguments of compute(samples, …) in Python. Edit them to use any kernel, measure or option; values can be names of columns.";
const SETS_INFO = "The arguments of compute(samples, references, …) in Python, in which the second set is the references.";
/** Arguments for the magnitude view, which are the defaults of evaluate.load("magnitude.py"). */
const MAGNITUDE = 'measures=["MagArea", "t_conv"], t_cut="t_conv"';
const MAGNITUDE_OF_SETS = 'measures=["MagArea", "t_conv", "MagDiff"]';

/**
 * Writes the call that the controls stand for.
 * @param {KernelEntry | undefined} kernel
 * @param {Settings} settings
 */
export function written(kernel, settings) {
  /** @type {Record<string, unknown>} */
  const call = { ...kernel?.arguments };
  const chosen = optionsOf(kernel, settings.options[settings.kernel]);
  for (const { name, keyword, type, value } of kernel?.options ?? []) {
    if (type === "checks" || chosen[name] !== value) call[keyword] = chosen[name];
  }
  if (settings.q !== null) call.q = settings.q;
  return Object.entries(call).map(([name, value]) => `${name}=${literal(value)}`).join(", ");
}

/**
 * Writes a value of JSON in Python.
 * @param {unknown} value
 * @returns {string}
 */
export function literal(value) {
  if (value === true) return "True";
  if (value === false) return "False";
  if (value === null) return "None";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return JSON.stringify(value);
}

/**
 * Makes the field. `turned()` redraws the controls, `changed()` handles another call; `busy(work)`
 * delays a score until the text is checked.
 * @param {KernelEntry[]} kernels
 * @param {KernelEntry | undefined} kernel
 * @param {Settings} settings
 * @param {{kind: Kind, ofSets: boolean}} editing
 * @param {{turned: () => void, changed: () => void, busy: (work: Promise<void>) => void}} page
 */
export function argumentsField(kernels, kernel, settings, { kind, ofSets }, { turned, changed, busy }) {
  const trouble = el("span", { role: "alert", class: "hint trouble-line" });
  const area = el("textarea", {
    id: "arguments",
    rows: 3,
    spellcheck: "false",
    autocapitalize: "off",
    "data-at": "arguments",
    "aria-describedby": "arguments-info",
    oninput: () => take(area.value),
    onchange: () => busy(check()),
  });
  const usual = () => written(kernel, settings);
  area.value = settings.arguments || usual();

  /** @param {string} text */
  function take(text) {
    settings.arguments = text.trim() === usual() ? "" : text.trim();
    changed();
  }

  async function check() {
    trouble.textContent = "";
    const text = settings.arguments;
    if (!text) return;
    try {
      const answer = await call("/page/arguments", { kind, arguments: text });
      if (settings.arguments !== text) return; // another edit is under way
      const { controls } = answer;
      if (kernels.some((each) => each.kernel === controls?.kernel)) {
        Object.assign(settings, { kernel: controls.kernel, q: controls.q, arguments: "" });
        settings.options[controls.kernel] = controls.options;
      } else {
        settings.arguments = answer.arguments;
      }
      turned();
    } catch (error) {
      trouble.textContent = /** @type {Failure} */ (error).message ?? "";
    }
  }

  /** @param {string} text */
  const set = (text) => {
    settings.arguments = text;
    area.value = text;
    busy(check());
    changed();
  };
  const node = el(
    "div",
    { class: "field" },
    el("label", { for: "arguments" }, "Arguments"),
    area,
    trouble,
    el("span", { id: "arguments-info", class: "hint" }, ofSets ? SETS_INFO : INFO),
    el(
      "div",
      { class: "row" },
      button("Magnitude", () => set(magnitude(kernel, settings, ofSets)), "chip", { "data-at": "magnitude" }),
      button("Reset", () => ((settings.arguments = ""), turned(), changed()), "chip", { "data-at": "reset" }),
    ),
  );
  return {
    node,
    /** Writes the call of the controls, after one of them has changed. */
    follow() {
      settings.arguments = "";
      trouble.textContent = "";
      area.value = usual();
    },
  };
}

/**
 * Writes the call of the magnitude view: distances of the kernel, or between vectors.
 * @param {KernelEntry | undefined} kernel
 * @param {Settings} settings
 * @param {boolean} ofSets
 */
export function magnitude(kernel, settings, ofSets) {
  const taken = kernel?.arguments ?? {};
  const vectors = taken.k === "cosine" || "score_K" in taken;
  const compared = "score_K" in taken ? "score_K=True, " : vectors ? "" : `${written(kernel, { ...settings, q: null })}, `;
  return `${compared}${ofSets ? MAGNITUDE_OF_SETS : MAGNITUDE}`;
}
