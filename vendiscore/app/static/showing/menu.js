/** A button that opens a few others: closed by Escape, by a choice, and by leaving. */

import { el, newId } from "../dom.js";

/** `items` are [words, what is done, in words for the reader beneath (or "")]. */
export function menu(face, label, items) {
  const id = newId("menu");
  const button = el(
    "button",
    {
      type: "button",
      class: "r-button",
      "aria-expanded": "false",
      "aria-controls": id,
      "aria-label": label,
    },
    face,
  );
  const panel = el("div", { class: "r-panel", id, hidden: true });
  const whole = el("div", { class: "r-menu" }, button, panel);
  const open = (is) => {
    panel.hidden = !is;
    button.setAttribute("aria-expanded", String(is));
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
  button.addEventListener("click", () => open(panel.hidden));
  whole.addEventListener("focusout", ({ relatedTarget }) => {
    if (!whole.contains(relatedTarget)) open(false);
  });
  whole.addEventListener("keydown", (event) => steer(event, whole, open));
  return whole;
}

function steer(event, whole, open) {
  const [button, ...choices] = whole.querySelectorAll("button");
  if (event.key === "Escape" && button.getAttribute("aria-expanded") === "true") {
    event.stopPropagation();
    open(false);
    button.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  open(true);
  const at = choices.indexOf(document.activeElement);
  const next = at < 0 && step < 0 ? choices.length - 1 : at + step;
  choices[(next + choices.length) % choices.length].focus();
}
