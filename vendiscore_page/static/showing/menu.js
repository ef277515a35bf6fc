/** A button that opens a few others: closed by Escape, by a choice, and by leaving. */

import { el, newId } from "../dom.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/**
 * Makes a button that opens a few others; the words of an item may have smaller ones beneath.
 * @param {string} face
 * @param {string} label
 * @param {MenuItem[]} items
 */
export function menu(face, label, items) {
  const id = newId("menu");
  const button = el(
    "button",
    { type: "button", class: "r-button", "aria-expanded": "false", "aria-controls": id, "aria-label": label },
    face,
  );
  const panel = el("div", { class: "r-panel", id, hidden: true });
  const whole = el("div", { class: "r-menu" }, button, panel);
  /** @param {boolean} is */
  const open = (is) => {
    panel.hidden = !is;
    button.setAttribute("aria-expanded", String(is));
    if (is) panel.scrollIntoView({ block: "nearest" });
  };
  for (const [words, run, small] of items) {
    panel.append(el("button", {
      type: "button",
      onclick: () => {
        open(false);
        button.focus();
        run();
      },
    }, el("span", {}, words), small ? el("small", {}, small) : null));
  }
  button.addEventListener("click", () => open(Boolean(panel.hidden)));
  whole.addEventListener("focusout", ({ relatedTarget }) => {
    if (!whole.contains(/** @type {Node | null} */ (relatedTarget))) open(false);
  });
  whole.addEventListener("keydown", (event) => steer(event, whole, open));
  return whole;
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} whole
 * @param {(is: boolean) => void} open
 */
function steer(event, whole, open) {
  const [button, ...choices] = whole.querySelectorAll("button");
  if (event.key === "Escape" && button.getAttribute("aria-expanded") === "true") {
    event.stopPropagation();
    open(false);
    button.focus();
    return;
  }
  const step = STEPS[event.key];
  if (!step) return;
  event.preventDefault();
  open(true);
  const at = choices.findIndex((each) => each === document.activeElement);
  const next = at < 0 && step < 0 ? choices.length - 1 : at + step;
  choices[(next + choices.length) % choices.length].focus();
}
