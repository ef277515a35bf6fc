/** The meaning of alike: the kernels in words people use, their options and the order q. */

import { el } from "../dom.js";
import { follow } from "./calls.js";
import { button, field, fill } from "./parts.js";
import { optionsOf } from "./state.js";

const Q_INFO = "0 counts rare samples in full; large q looks at the commonest only";

/**
 * Shows the kernels of a kind, and sets `settings`; `changed()` after each change. `usual` has the
 * `q` of the menu.
 * @param {HTMLElement} container
 * @param {KernelEntry[]} kernels
 * @param {Settings} settings
 * @param {Menu["limits"]} usual
 * @param {() => void} changed
 * @param {Node[]} more what else stands below the kernels
 */
export function alike(container, kernels, settings, usual, changed, more = []) {
  const kernel = kernels.find(({ kernel: name }) => name === settings.kernel) ?? kernels[0];
  settings.kernel = kernel?.kernel ?? "";
  const open = container.querySelector("details")?.open ?? false;
  /** @param {string} name */
  const pick = (name) => {
    settings.kernel = name;
    alike(container, kernels, settings, usual, changed, more);
    changed();
  };
  fill(
    container,
    el(
      "fieldset",
      { class: "kernels" },
      el("legend", { class: "visually-hidden" }, "Alike means they"),
      ...kernels.map((entry) => radio(entry, entry === kernel, pick)),
    ),
    ...more,
    options(kernel, settings, usual, changed, open),
  );
}

/**
 * Makes a button that downloads an encoder to this machine; `here()` once it is there.
 * @param {Kind} kind
 * @param {string} kernel
 * @param {(work: (tools: Tools) => Promise<void>) => Promise<void>} run
 * @param {() => unknown} here
 */
export function download(kind, kernel, run, here) {
  const trouble = el("span", { role: "alert" });
  const fetched = button(`Download ${kernel} (90 MB), to compare by meaning`, () => {
    trouble.textContent = "";
    run((tools) => follow("/page/download", { kind, kernel }, tools))
      .then(() => here())
      .catch((error) => (trouble.textContent = error.message));
  });
  return el("div", { class: "row" }, fetched, trouble);
}

/**
 * @param {KernelEntry} entry
 * @param {boolean} checked
 * @param {(name: string) => void} pick
 */
function radio({ kernel, label, small }, checked, pick) {
  return el(
    "label",
    { class: "choice" },
    el("input", {
      type: "radio",
      name: "kernel",
      value: kernel,
      checked,
      "data-at": `kernel ${kernel}`,
      onchange: () => pick(kernel),
    }),
    el("span", {}, label),
    small ? el("small", {}, small) : null,
  );
}

/**
 * @param {KernelEntry | undefined} kernel
 * @param {Settings} settings
 * @param {Menu["limits"]} usual
 * @param {() => void} changed
 * @param {boolean} open
 */
function options(kernel, settings, usual, changed, open) {
  const shown = kernel?.options ?? [];
  const chosen = optionsOf(kernel, settings.options[settings.kernel]);
  const now = el("span", { class: "now" });
  const say = () => {
    now.textContent = [
      `q ${settings.q ?? usual.q}`,
      ...shown.map((option) => `${named(option)} ${[chosen[option.name]].flat().join(", ")}`),
    ].join(" · ");
  };
  /**
   * @param {string} name
   * @param {OptionValue} value
   */
  const set = (name, value) => {
    chosen[name] = value;
    settings.options[settings.kernel] = { ...chosen };
    say();
    changed();
  };
  say();
  return el(
    "details",
    { class: "more", open },
    el("summary", { "data-at": "more" }, "More ", now),
    el(
      "div",
      { class: "stack" },
      order(settings, usual.q, () => (say(), changed())),
      ...shown.map((option) => control(option, chosen[option.name], set)),
    ),
  );
}

/**
 * @param {Settings} settings
 * @param {number} usual
 * @param {() => void} changed
 */
function order(settings, usual, changed) {
  const shown = el("output", {}, String(settings.q ?? usual));
  const range = el("input", {
    type: "range",
    min: 0,
    max: 10,
    step: 0.25,
    "data-at": "q",
    id: "q", // a label around both would be that of the output
    "aria-describedby": "q-info",
    oninput: (event) => {
      const q = Number(event.target.value);
      settings.q = q === usual ? null : q;
      shown.textContent = String(q);
      changed();
    },
  });
  range.value = String(settings.q ?? usual); // after its step, which would round it
  return el(
    "div",
    { class: "field" },
    el("label", { class: "field", for: "q" }, el("span", {}, "Order q: ", shown), range),
    el("span", { id: "q-info", class: "hint" }, Q_INFO),
  );
}

const CONTROLS = { checks, choice, number };

/**
 * @param {Option} option
 * @param {OptionValue} value
 * @param {Setter} set
 */
function control(option, value, set) {
  return CONTROLS[option.type]?.(option, value, set) ?? null;
}

/** @param {Option} option */
const named = (option) => option.label ?? option.name;

/** @param {Option} option */
function info(option) {
  return option.info ? el("span", { class: "hint" }, option.info) : null;
}

/**
 * @param {Option} option
 * @param {OptionValue} value
 * @param {Setter} set
 */
function checks(option, value, set) {
  const choices = option.choices ?? [];
  const boxes = choices.map((each) => {
    const box = el("input", {
      type: "checkbox",
      checked: Array.isArray(value) && value.includes(each),
      "data-at": `${option.name} ${each}`,
      onchange: () => {
        const kept = choices.filter((_, i) => boxes[i].checked);
        if (kept.length) set(option.name, kept);
        else box.checked = true; // at least one
      },
    });
    return box;
  });
  const labels = boxes.map((box, i) => el("label", { class: "choice" }, box, String(choices[i])));
  return el(
    "fieldset",
    { class: "field" },
    el("legend", { class: "hint" }, named(option)),
    el("div", { class: "row" }, ...labels),
    info(option),
  );
}

/**
 * @param {Option} option
 * @param {OptionValue} value
 * @param {Setter} set
 */
function choice(option, value, set) {
  const choices = option.choices ?? [];
  const onchange = () => set(option.name, choices[select.selectedIndex]);
  const options = choices.map((each) => el("option", { value: each }, String(each)));
  const select = el("select", { "data-at": option.name, onchange }, ...options);
  select.selectedIndex = choices.findIndex((each) => each === value);
  return field(named(option), select, info(option));
}

/**
 * @param {Option} option
 * @param {OptionValue} value
 * @param {Setter} set
 */
function number(option, value, set) {
  const input = el("input", {
    type: "number",
    min: 0,
    step: "any",
    value: String(value),
    "data-at": option.name,
    onchange: (event) => set(option.name, Math.max(0, Number(event.target.value) || 0)),
  });
  return field(named(option), input, info(option));
}
