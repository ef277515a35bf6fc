/** Pictures that the server drew, and code to copy. */

import { el } from "../dom.js";
import { ink, inColours } from "./colours.js";
import { saver } from "./pictures.js";
import { copyText } from "./saves.js";

/**
 * Puts pictures side by side.
 * @param {AnyView} view
 * @param {Drawing[]} pictures
 */
export function figures(view, pictures) {
  return el("div", { class: "r-pictures" }, ...pictures.map((picture) => figure(view, picture)));
}

/**
 * @param {AnyView} view
 * @param {Drawing} picture
 */
function figure(view, { name, svg, caption }) {
  const [head, words] = spoken(caption ?? "");
  const [wide, high] = viewBox(svg);
  // Of its size before it is drawn, so that nothing moves then.
  const image = el("img", { alt: label(svg) || head || name, class: "r-drawn", width: wide, height: high });
  // An image takes no ink from the page around it, so that it is given it, light or dark.
  inColours(() => (image.src = uri(inked(svg, ink(document.documentElement, "ink")))), view.signal);
  const save = saver(view, head.replace(/\.$/, "") || name, () => parsed(inked(svg, "#1e1b2e")));
  return el(
    "figure",
    { class: "r-figure" },
    image,
    el("div", { class: "r-foot" },
      el("figcaption", {}, head ? el("b", {}, head) : null, words), save),
  );
}

/**
 * @param {string} svg
 * @param {string} colour
 */
function inked(svg, colour) {
  const named = svg.includes("xmlns=") ? svg : svg.replace(
    "<svg",
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"',
  );
  return named.replaceAll("currentColor", colour);
}

/** @param {string} svg */
function uri(svg) {
  return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

/** @param {string} svg */
function parsed(svg) {
  const made = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  return /** @type {SVGElement} */ (/** @type {unknown} */ (document.importNode(made, true)));
}

/** @param {string} svg */
function viewBox(svg) {
  return (/viewBox="([^"]*)"/.exec(svg)?.[1] ?? "").split(" ").slice(2).map(Number);
}

/** @param {string} svg */
function label(svg) {
  const found = /aria-label="([^"]*)"/.exec(svg)?.[1] ?? "";
  return new DOMParser().parseFromString(found, "text/html").body.textContent;
}

/** @param {string} caption */
function spoken(caption) {
  const found = /^([^.]{1,40}\.)( .*)$/s.exec(caption);
  return found ? found.slice(1) : ["", caption];
}

/**
 * Makes Python and signature of a result, to copy.
 * @param {AnyView} view
 * @param {{signature: string, code: string}} result
 */
export function lines(view, { signature, code }) {
  return [copied(view, "Python", code), copied(view, "Signature", signature)];
}

/**
 * Makes lines to copy, with a button that copies them.
 * @param {AnyView} view
 * @param {string} name
 * @param {string} text
 */
export function copied(view, name, text) {
  const button = el("button", { type: "button", class: "r-button", "aria-label": `Copy: ${name}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copyText(text);
    button.textContent = done ? "Copied" : "Select and copy";
    view.announce(done ? `${name} is copied.` : "The browser did not allow copying; select the text.");
    setTimeout(() => (button.textContent = "Copy"), 2500);
  });
  return el("div", { class: "r-copy" },
    el("div", { class: "r-head" }, el("h4", {}, name), button),
    el("pre", { tabindex: 0, role: "group", "aria-label": name }, el("code", {}, text)));
}
