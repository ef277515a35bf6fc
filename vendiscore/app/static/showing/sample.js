/** Samples on the page: their place, their words, their picture. */

import { cut, el } from "../dom.js";

const AT_ONCE = 60; // drawings in one request

/** The place of a sample as a button that goes to its row of the table. */
export function place(view, i) {
  return el("button", {
    type: "button", class: "r-place", title: `Go to ${view.where(i)} in the table`,
    onclick: () => view.tell("jump", i),
  }, view.mark(i));
}

/** A sample on one line. */
export function brief(view, i, longest = 120) {
  return el("span", { class: "r-words", dir: "auto" }, cut(view.text(i), longest));
}

/** A sample in full. */
export function full(view, i) {
  const words = view.hasText ? el("p", { class: "r-full", dir: "auto" }, view.text(i)) : null;
  return el("div", { class: "r-whole" }, thumbnail(view, i), words);
}

/** A small picture of a sample, if its kind has one; molecules are drawn when they come into sight. */
export function thumbnail(view, i, alt = "") {
  const { kind, samples } = view.R;
  const uri = samples.image?.[i];
  if (uri) return el("img", { class: "r-thumb", src: uri, alt, loading: "lazy" });
  if (kind !== "molecules") return null;
  const drawn = el("img", { class: "r-thumb r-molecule", alt, width: 96, height: 64 });
  drawings(view).wish(drawn, i);
  return drawn;
}

function drawings(view) {
  view.drawings ??= makeDrawings(view);
  return view.drawings;
}

function makeDrawings(view) {
  const uris = new Map();
  const places = new WeakMap();
  const waiting = new Map();
  let timer = 0;
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      want(target, places.get(target));
    }
  }, { rootMargin: "200px" });
  view.signal?.addEventListener("abort", () => watch.disconnect());

  function want(image, i) {
    if (uris.has(i)) {
      put(image, uris.get(i));
      return;
    }
    waiting.set(i, [...(waiting.get(i) ?? []), image]);
    clearTimeout(timer);
    timer = setTimeout(ask, 60);
  }

  async function ask() {
    const batch = [...waiting].slice(0, AT_ONCE);
    if (!batch.length) return;
    for (const [i] of batch) waiting.delete(i);
    if (waiting.size) timer = setTimeout(ask, 60);
    try {
      const answer = await view.asked("pictures", { index: batch.map(([i]) => i) });
      batch.forEach(([i, images], at) => {
        uris.set(i, answer.uris[at]);
        for (const image of images) put(image, answer.uris[at]);
      });
    } catch {
      // The SMILES beside it still says what it is.
      for (const [, images] of batch) for (const image of images) put(image, null);
    }
  }

  function wish(image, i) {
    places.set(image, i);
    if (uris.has(i)) put(image, uris.get(i));
    else watch.observe(image);
  }
  return { wish };
}

function put(image, uri) {
  if (uri) image.src = uri;
  else image.hidden = true;
}
