/** The meaning of alike: the kernels in words people use, their options and the order q. */

import { el } from "../dom.js";
import { argumentsField } from "./arguments.js";
import { follow } from "./calls.js";
import { button, field, fill } from "./parts.js";
import { optionsOf } from "./state.js";

const Q_INFO = "0 counts distinct samples equally; larger values give more weight to frequent samples";

/**
 * Shows the kernels of a kind, and sets `settings`; `changed()` handles every change. `usual` is the
 * default order.
 * @param {HTMLElement} container
 * @param {KernelEntry[]} kernels
 * @param {Settings} settings
 * @param {number} usual
 * @param {() => void} changed
 * @param {Node[]} beneath what else stands below the kernels
 * @param {{kind: Kind, ofSets: boolean, busy: (work: Promise<void>) => void}} editing
 */
export function alike(container, kernels, settings, usual, changed, beneath, editing) {
  const kernel = kernels.find(({ kernel: name }) => name === settings.kernel) ?? kernels[0];
  settings.kernel = kernel?.kernel ?? "";
  const open = container.querySelector("details")?.open ?? false;
  const turned = () => alike(container, kernels, settings, usual, changed, beneath, editing);
  const edited = argumentsField(kernels, kernel, settings, editing, { turned, changed, busy: editing.busy });
  /** @param {KernelEntry} entry */
  const radio = ({ kernel: name, label, small }) => {
    const pick = () => {
      settings.kernel = name;
      settings.arguments = "";
      turned();
      changed();
    };
    const checked = name === settings.kernel;
    const at = { "data-at": `kernel ${name}`, onclick: pick };
    return el(
      "label",
      { class: "choice" },
      el("input", { type: "radio", name: "kernel", value: name, checked, ...at }),
      el("span", {}, label),
      small ? el("small", {}, small) : null,
    );
  };
  const legend = el("legend", { class: "visually-hidden" }, "Two samples are similar if they");
  fill(
    container,
    el("fieldset", { class: "kernels" }, legend, ...kernels.map(radio)),
    ...beneath,
    more(kernel, settings, usual, changed, open, edited),
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
  const trouble = el("span", { role: "alert", class: "hint" });
  const fetched = button(`Download ${kernel} (90 MB)`, () => {
    trouble.textContent = "";
    run((tools) => follow("/page/download", { kind, kernel }, tools))
      .then(() => here())
      .catch((error) => (trouble.textContent = error.message));
  });
  return el("div", { class: "row" }, fetched, trouble);
}

/**
 * @param {KernelEntry | undefined} kernel
 * @param {Settings} settings
 * @param {number} usual
 * @param {() => void} changed
 * @param {boolean} open
 * @param {ReturnType<typeof argumentsField>} edited
 */
function more(kernel, settings, usual, changed, open, edited) {
  const options = kernel?.options ?? [];
  const chosen = optionsOf(kernel, settings.options[settings.kernel]);
  const now = el("span", { class: "now" });
  const say = () => {
    const set = options.map((option) => `${option.label} ${[chosen[option.name]].flat().join(", ")}`);
    now.textContent = settings.arguments || [`q ${settings.q ?? usual}`, ...set].join(" · ");
  };
  const set = () => {
    edited.follow();
    say();
    changed();
  };
  /** @param {Option} option */
  const control = (option) => CONTROLS[option.type](option, chosen[option.name], (value) => {
    chosen[option.name] = value;
    settings.options[settings.kernel] = { ...chosen };
    set();
  });
  say();
  return el(
    "details",
    { class: "more", open },
    el("summary", { "data-at": "more" }, "More options ", now),
    el(
      "div",
      { class: "stack" },
      order(settings, usual, set),
      ...options.map(control),
      edited.node,
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

/** @param {Option} option */
const info = ({ info: words }) => (words ? el("span", { class: "hint" }, words) : null);

/** @type {Control} */
function checks(option, value, set) {
  const choices = option.choices ?? [];
  const boxes = choices.map((each) => {
    const box = el("input", {
      type: "checkbox",
      checked: Array.isArray(value) && value.includes(each),
      "data-at": `${option.name} ${each}`,
      onchange: () => {
        const kept = choices.filter((_, i) => boxes[i].checked);
        if (kept.length) set(kept);
        else box.checked = true; // at least one
      },
    });
    return box;
  });
  const labels = boxes.map((box, i) => el("label", { class: "choice" }, box, String(choices[i])));
  const legend = el("legend", { class: "hint" }, option.label);
  return el("fieldset", { class: "field" }, legend, el("div", { class: "row" }, ...labels), info(option));
}

/** @type {Control} */
function choice(option, value, set) {
  const choices = option.choices ?? [];
  const onchange = () => set(choices[select.selectedIndex]);
  const options = choices.map((each) => el("option", { value: each }, String(each)));
  const select = el("select", { "data-at": option.name, onchange }, ...options);
  select.selectedIndex = choices.findIndex((each) => each === value);
  return field(option.label, select, info(option));
}

/** @type {Control} */
function number(option, value, set) {
  const input = el("input", {
    type: "number",
    min: 0,
    step: "any",
    value: String(value),
    "data-at": option.name,
    onchange: (event) => set(Math.max(0, Number(event.target.value) || 0)),
  });
  return field(option.label, input, info(option));
}
