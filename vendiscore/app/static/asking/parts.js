/** Parts of the input side: buttons, what was given as chips, and filling without losing focus. */

import { el } from "../dom.js";
import { isLarge } from "./given.js";

const TOO_LARGE = " – what you pasted is too long for the box, so it is kept as a file";

export const byId = (id) => document.getElementById(id);

export const button = (label, onclick, kind = "chip", more = {}) =>
  el("button", { type: "button", class: kind, onclick, ...more }, label);

const STILL = 8; // px that a pointer may move while it presses

/**
 * Calls `press()` for a press of a button, also where the page moves the button from under the
 * pointer between down and up: the browser then sends the click to what contains both.
 */
export function onPress(target, press) {
  let down = null;
  target.addEventListener("click", () => {
    down = null;
    press();
  });
  const begin = (event) => (down = target.contains(event.target) ? event : null);
  addEventListener("pointerdown", begin, true);
  addEventListener("click", (event) => {
    const still = down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY);
    const moved = down && still <= STILL && !target.disabled;
    down = null;
    if (moved) press();
  });
}

/** Fills a container anew; who had the focus in it has it again, found by `data-at`. */
export function fill(container, ...children) {
  const at = container.contains(document.activeElement) && document.activeElement.dataset.at;
  const nodes = children.flat().filter(Boolean);
  container.replaceChildren(...nodes);
  container.hidden = nodes.length === 0;
  if (at) container.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus();
}

/** A button that chooses files; the same files can be chosen again. */
export function chooser(label, take, { id } = {}) {
  const onchange = () => {
    const files = [...input.files];
    input.value = "";
    if (files.length) take(files);
  };
  const more = { class: "visually-hidden", multiple: true, id, "data-at": "files", onchange };
  const input = el("input", { type: "file", ...more });
  return el("label", { class: "button" }, input, label);
}

/** The files or the dataset that were given, with a button that takes them away, `then()` more. */
export function chip(given, then) {
  if (given.source !== "files" && given.source !== "dataset") return null;
  const [first, ...more] = given.source === "files" ? given.names : [given.dataset];
  const named = more.length ? `${first} and ${more.length} more` : first;
  const name = given.read?.name || named;
  const detach = () => {
    given.detach();
    then();
  };
  return el(
    "p",
    { class: "given" },
    el(
      "span",
      { class: "given-name" },
      name,
      given.pasted ? el("span", { class: "hint" }, TOO_LARGE) : null,
    ),
    button("×", detach, "take-away", { "aria-label": `Remove ${name}` }),
  );
}

/** A control with its name above it, and whatever stands beneath. */
export function field(name, control, ...more) {
  return el("label", { class: "field" }, el("span", {}, name), control, ...more);
}

/** Examples as chips, the one `chosen` by its name pressed; a click is `choose(entry)`. */
export function tries(container, examples, chosen, choose) {
  const chips = examples.map((entry) =>
    button(entry.name, () => choose(entry), "chip", {
      "aria-pressed": String(entry.name === chosen),
      "data-at": entry.name,
    }),
  );
  const { note } = examples.find(({ name }) => name === chosen) ?? {};
  const said = [chips.length && "Try", note].map((words) => words && el("span", { class: "hint" }, words));
  fill(container, said[0], chips, said[1]);
}

/**
 * A box to paste into; what is pasted is read at once, what is typed after a pause. A text that is
 * too large for a box never gets into it.
 */
export function box(write, attributes) {
  const oninput = (event) => write(event.target.value, event.inputType === "insertFromPaste");
  const onpaste = (event) => {
    const { value, selectionStart: from, selectionEnd: to } = event.target;
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    const text = value.slice(0, from) + pasted + value.slice(to);
    if (!pasted || !isLarge(text)) return;
    event.preventDefault();
    write(text, true);
  };
  const listeners = { oninput, onpaste };
  return el("textarea", { spellcheck: "false", autocapitalize: "off", ...listeners, ...attributes });
}
