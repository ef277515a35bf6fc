/** Samples on the page: their place, their words, their picture. */

import { cut, el, shape } from "../dom.js";
import { marked } from "./highlight.js";

const AT_ONCE = 60; // drawings in one request
// Stands where a drawing will be: a picture without a source looks broken.
const BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/**
 * Makes the place of a sample a button that goes to its row of the table.
 * @param {View} view
 * @param {number} i
 */
export function place(view, i) {
  return el("button", { type: "button", class: "r-place", onclick: () => view.tell("jump", i) }, view.mark(i));
}

/**
 * Puts a sample on one line.
 * @param {View} view
 * @param {number} i
 * @param {number} longest
 */
export function brief(view, i, longest) {
  return el("span", { class: "r-words", dir: "auto" }, marked(cut(view.words(i), longest), view.phrase));
}

/**
 * Shows a sample in full.
 * @param {View} view
 * @param {number} i
 */
export function full(view, i) {
  return inFull(view, sample(view, i));
}

/**
 * Shows words and picture of a sample in full.
 * @param {AnyView} view
 * @param {Seen} sample
 * @param {string} [alt]
 */
export function inFull(view, { image, text, words = text }, alt = "") {
  const shown = words ? el("p", { class: "r-full", dir: "auto" }, marked(words, view.phrase)) : null;
  return el("div", { class: "r-whole" }, picture(view, { image, text }, alt), shown);
}

/**
 * Makes a small picture of a sample, if its kind has one.
 * @param {View} view
 * @param {number} i
 * @param {string} [alt]
 */
export function thumbnail(view, i, alt = "") {
  return picture(view, sample(view, i), alt);
}

/**
 * Makes the picture of a sample as a part of a drawing; null where its kind has none.
 * @param {View} view
 * @param {number} i
 * @param {Attributes} box
 */
export function pictured(view, i, box) {
  const { image, text } = sample(view, i);
  if (!image && view.R.kind !== "molecules") return null;
  const drawn = shape("image", { class: "r-picture", href: image ?? BLANK, ...box });
  if (!image) drawings(view).want(drawn, text ?? "");
  return drawn;
}

/**
 * @param {View} view
 * @param {number} i
 * @returns {Seen}
 */
function sample(view, i) {
  const [text, words] = view.hasText ? [view.text(i), view.words(i)] : ["", ""];
  return { image: view.R.samples.image?.[i], text, words };
}

/**
 * @param {AnyView} view
 * @param {Seen} sample
 * @param {string} alt
 */
function picture(view, { image, text }, alt) {
  if (image) return el("img", { class: "r-thumb", src: image, alt, loading: "lazy" });
  if (view.R.kind !== "molecules") return null;
  const drawn = el("img", { class: "r-thumb r-molecule", src: BLANK, alt, width: 96, height: 64 });
  drawings(view).wish(drawn, text ?? "");
  return drawn;
}

/** @param {AnyView} view */
function drawings(view) {
  view.drawings ??= makeDrawings(view);
  return view.drawings;
}

/** @param {AnyView} view */
function makeDrawings(view) {
  /** @type {Map<string, string>} */
  const uris = new Map(); // by SMILES, as what is waited for
  /** @type {WeakMap<Element, () => void>} */
  const wished = new WeakMap();
  /** @type {Map<string, Element[]>} */
  const waiting = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      wished.get(target)?.();
    }
  }, { rootMargin: "200px" });
  view.signal.addEventListener("abort", () => watch.disconnect());

  /**
   * @param {Element} image
   * @param {string} smiles
   */
  function want(image, smiles) {
    if (uris.has(smiles)) {
      put(image, uris.get(smiles));
      return;
    }
    waiting.set(smiles, [...(waiting.get(smiles) ?? []), image]);
    clearTimeout(timer);
    timer = setTimeout(ask, 60);
  }

  async function ask() {
    const batch = [...waiting].slice(0, AT_ONCE);
    if (!batch.length) return;
    for (const [smiles] of batch) waiting.delete(smiles);
    if (waiting.size) timer = setTimeout(ask, 60);
    try {
      const answer = await view.asked("drawings", { smiles: batch.map(([smiles]) => smiles) });
      batch.forEach(([smiles, images], at) => {
        uris.set(smiles, answer.uris[at]);
        for (const image of images) put(image, answer.uris[at]);
      });
    } catch {
      // The SMILES beside it still says what it is.
      for (const [, images] of batch) for (const image of images) put(image, null);
    }
  }

  /**
   * @param {Element} image
   * @param {string} smiles
   */
  function wish(image, smiles) {
    wished.set(image, () => want(image, smiles));
    if (uris.has(smiles)) put(image, uris.get(smiles));
    else watch.observe(image);
  }
  return { wish, want };
}

/**
 * @param {Element} image
 * @param {string | null | undefined} uri
 */
function put(image, uri) {
  if (uri) image.setAttribute(image instanceof SVGElement ? "href" : "src", uri);
  else image.setAttribute("hidden", "");
}
