/** A card of one of the sets that are compared: its name, a box or files, and its samples. */

import { el } from "../dom.js";
import { box, button, chip, chooser, fill } from "./parts.js";
import { readout } from "./readout.js";

/**
 * Makes the card of a set. `take(files, card)` and `remove(card)` are the sets' own; `name` is its
 * name at first.
 * @param {Given} given
 * @param {string} name
 * @param {CardSets} sets
 * @returns {Card}
 */
export function makeCard(given, name, { take, remove, turn, renamed, score }) {
  let own = false;
  const oninput = () => {
    own = true;
    label();
    renamed();
  };
  const named = { class: "set-name", "aria-label": "Name of the set" };
  const title = el("input", { type: "text", value: name, oninput, ...named });
  const paste = box((text, atOnce) => given.write(text, atOnce), { rows: 2 });
  const attached = el("div");
  const read = el("div", { class: "stack read" });
  const bin = button("×", () => remove(card), "take-away");
  const files = chooser("Choose files", (chosen) => take(chosen, card));
  const legend = el("legend", { class: "visually-hidden" });
  const head = el("div", { class: "row between" }, title, files, bin);
  const node = el("fieldset", { class: "set" }, legend, head, attached, paste, read);

  /** @type {Card} */
  const card = {
    given,
    node,
    name: () => title.value.trim(),
    isNamed: () => own,
    rename(text, byVisitor = false) {
      title.value = text;
      own = byVisitor;
      label();
    },
    focus() {
      title.focus();
      title.select();
    },
    attach(chosen) {
      if (!own) card.rename(chosen[0].name.replace(/\.[^.]+$/, ""));
      given.attach(chosen);
    },
    draw(removable) {
      const chips = chip(given, () => title.focus());
      fill(attached, chips);
      paste.hidden = chips !== null || given.kind === "images";
      if (paste.value !== given.text) paste.value = given.text;
      bin.hidden = !removable;
      readout(read, given, { score, turn, label: card.name() });
    },
  };

  function label() {
    const called = card.name() || "the set";
    legend.textContent = called;
    paste.setAttribute("aria-label", `Samples of ${called}`);
    paste.placeholder = `Paste the samples of ${called}, or drop a file here`;
    bin.setAttribute("aria-label", `Remove ${called}`);
    files.querySelector("input")?.setAttribute("aria-label", `Choose files for ${called}`);
  }
  label();
  return card;
}
