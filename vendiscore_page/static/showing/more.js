/** The first few of many, and the others when asked. */

import { count, el, find } from "../dom.js";

const FIRST = 12;
const NEXT = 120;

/**
 * Makes the first elements; the later ones are behind a button, which `wrap` fits to its list.
 * @param {(() => HTMLElement)[]} makers
 * @param {string} words
 * @param {(button: HTMLElement) => HTMLElement} [wrap]
 * @param {number} [first]
 * @returns {HTMLElement[]}
 */
export function more(makers, words, wrap = (button) => button, first = FIRST) {
  const made = makers.slice(0, first).map((make) => make());
  const rest = makers.slice(first);
  if (!rest.length) return made;
  const button = el(
    "button",
    { type: "button", class: "r-button r-more" },
    `show ${count(Math.min(rest.length, NEXT))} more ${words}`,
  );
  const holder = wrap(button);
  button.addEventListener("click", () => {
    const next = more(rest, words, wrap, NEXT);
    holder.replaceWith(...next);
    (find(next[0], "summary, button") ?? next[0]).focus();
  });
  return [...made, holder];
}
