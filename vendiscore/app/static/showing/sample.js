/** Samples on the page: their place, their words, their picture. */

import { cut, el } from "../dom.js";

const AT_ONCE = 60; // drawings in one request
// Stands where a drawing will be: a picture without a source looks broken.
const BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";

/** The place of a sample as a button that goes to its row of the table. */
export function place(view, i) {
  return el("button", {
    type: "button", class: "r-place", onclick: () => view.tell("jump", i),
  }, view.mark(i));
}

/** A sample on one line. */
export function brief(view, i, longest) {
  return el("span", { class: "r-words", dir: "auto" }, cut(view.text(i), longest));
}

/** A sample in full. */
export function full(view, i) {
  return inFull(view, sample(view, i));
}

/** The same of a sample {image, text}, one of which it may lack. */
export function inFull(view, { image, text }, alt = "") {
  const words = text ? el("p", { class: "r-full", dir: "auto" }, text) : null;
  return el("div", { class: "r-whole" }, picture(view, { image, text }, alt), words);
}

/** A small picture of a sample, if its kind has one. */
export function thumbnail(view, i, alt = "") {
  return picture(view, sample(view, i), alt);
}

function sample(view, i) {
  return { image: view.R.samples.image?.[i], text: view.hasText ? view.text(i) : "" };
}

/** Molecules are drawn when they come into sight. */
function picture(view, { image, text }, alt) {
  if (image) return el("img", { class: "r-thumb", src: image, alt, loading: "lazy" });
  if (view.R.kind !== "molecules") return null;
  const drawn = el("img", { class: "r-thumb r-molecule", src: BLANK, alt, width: 96, height: 64 });
  view.drawings ??= makeDrawings(view);
  view.drawings.wish(drawn, text);
  return drawn;
}

function makeDrawings(view) {
  const uris = new Map(); // by SMILES, as what is waited for
  const wished = new WeakMap();
  const waiting = new Map();
  let timer = 0;
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      want(target, wished.get(target));
    }
  }, { rootMargin: "200px" });
  view.signal.addEventListener("abort", () => watch.disconnect());

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

  function wish(image, smiles) {
    wished.set(image, smiles);
    if (uris.has(smiles)) put(image, uris.get(smiles));
    else watch.observe(image);
  }
  return { wish };
}

function put(image, uri) {
  if (uri) image.src = uri;
  else image.hidden = true;
}
