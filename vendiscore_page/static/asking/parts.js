/** Parts of the input side: buttons, what was given as chips, and filling without losing focus. */

import { el, find, focused } from "../dom.js";
import { isLarge } from "./given.js";

const TOO_LARGE = " – the pasted text is too long for the box and is kept as a file";

/** @type {<Id extends string>(id: Id) => Id extends keyof Named ? Named[Id] : HTMLElement} */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** @type {(label: string, onclick: () => void, kind?: string, more?: Attributes) => HTMLButtonElement} */
export const button = (label, onclick, kind = "chip", more = {}) =>
  el("button", { type: "button", class: kind, onclick, ...more }, label);

const STILL = 8; // px that a pointer may move while it presses

/**
 * Calls `press()` for a press of a button, even if the button moves between down and up.
 * @param {HTMLButtonElement} target
 * @param {() => void} press
 */
export function onPress(target, press) {
  /** @type {PointerEvent | null} */
  let down = null;
  addEventListener("pointerdown", (event) => (down = event), true);
  addEventListener("click", ({ target: to, clientX: x, clientY: y }) => {
    /** @param {EventTarget | null | undefined} node */
    const isHere = (node) => node instanceof Node && target.contains(node);
    const still = down && Math.hypot(x - down.clientX, y - down.clientY) <= STILL;
    if (isHere(to) || (still && isHere(down?.target) && !target.disabled)) press();
    down = null;
  });
}

/**
 * Fills a container anew; who had the focus in it has it again, found by `data-at`.
 * @param {HTMLElement} container
 * @param {...Part} children
 */
export function fill(container, ...children) {
  const at = container.contains(document.activeElement) && focused()?.dataset.at;
  const nodes = children.flat().filter((child) => child instanceof Node);
  container.replaceChildren(...nodes);
  container.hidden = nodes.length === 0;
  if (at) find(container, `[data-at="${CSS.escape(at)}"]`)?.focus();
}

/**
 * Makes a button that chooses files; the same files can be chosen again.
 * @param {string} label
 * @param {(files: File[]) => void} take
 * @param {{id?: string}} [named]
 */
export function chooser(label, take, { id } = {}) {
  const onchange = () => {
    const files = [...(input.files ?? [])];
    input.value = "";
    if (files.length) take(files);
  };
  const more = { class: "visually-hidden", multiple: true, id, "data-at": "files", onchange };
  const input = el("input", { type: "file", ...more });
  return el("label", { class: "button" }, input, label);
}

/**
 * Names the files or the dataset that were given, with a button that takes them away.
 * @param {Given} given
 * @param {() => void} then
 */
export function chip(given, then) {
  if (given.source !== "files" && given.source !== "dataset") return null;
  const [first, ...more] = given.source === "files" ? given.names : [given.dataset];
  const name = given.read?.name || (more.length ? `${first} and ${more.length} more` : first);
  const detach = () => {
    given.detach();
    then();
  };
  const note = given.pasted ? el("span", { class: "hint" }, TOO_LARGE) : null;
  return el(
    "p",
    { class: "given" },
    el("span", { class: "given-name" }, name, note),
    button("×", detach, "take-away", { "aria-label": `Remove ${name}` }),
  );
}

/**
 * Makes a control with its name above it, and whatever stands beneath.
 * @param {string} name
 * @param {HTMLElement} control
 * @param {...Child} more
 */
export function field(name, control, ...more) {
  return el("label", { class: "field" }, el("span", {}, name), control, ...more);
}

/**
 * Fills a container with examples as chips, the one `chosen` by its name pressed.
 * @template {Example} Entry
 * @param {HTMLElement} container
 * @param {Entry[]} examples
 * @param {string} chosen
 * @param {(entry: Entry) => void} choose
 */
export function tries(container, examples, chosen, choose) {
  const chips = examples.map((entry) =>
    button(entry.name, () => choose(entry), "chip", {
      "aria-pressed": String(entry.name === chosen),
      "data-at": entry.name,
    }),
  );
  const { note } = examples.find(({ name }) => name === chosen) ?? {};
  /** @param {string | false | undefined} words */
  const hint = (words) => words && el("span", { class: "hint" }, words);
  fill(container, hint(chips.length > 0 && "Try an example"), chips, hint(note));
}

/**
 * Makes a box to paste into: pasted text is read at once, typed text after a pause. A text that is
 * too large for a box never gets into it.
 * @param {(text: string, atOnce: boolean) => void} write
 * @param {Attributes<HTMLTextAreaElement>} attributes
 */
export function box(write, attributes) {
  const area = el("textarea", { spellcheck: "false", autocapitalize: "off", ...attributes });
  area.addEventListener("input", (event) => {
    write(area.value, event instanceof InputEvent && event.inputType === "insertFromPaste");
  });
  area.addEventListener("paste", (event) => {
    const { value, selectionStart: from, selectionEnd: to } = area;
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    const text = value.slice(0, from) + pasted + value.slice(to);
    if (!pasted || !isLarge(text)) return;
    event.preventDefault();
    write(text, true);
  });
  return area;
}
