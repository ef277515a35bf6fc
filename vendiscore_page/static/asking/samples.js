/** Section 1: the samples of one kind, pasted, dropped, chosen, from the Hub or an example. */

import { el, focused } from "../dom.js";
import { box, button, byId, chip, chooser, fill, tries } from "./parts.js";
import { readout } from "./readout.js";

/** @type {Record<string, string | undefined>} */
const ASKED = {
  texts: "Paste texts: one a line, with blank lines between, or a table",
  molecules: "Paste SMILES, one a line, or a table with a column of them",
  vectors: "Paste numbers: one sample a row, values separated by commas, tabs or spaces",
};
/** @type {Record<string, string>} */
const FILES = { images: "Choose images or a .zip" };

/**
 * Makes the section of samples. `current()` are the samples of the tab, `examples()` those of its
 * kind; the others do what is asked for. `choose(entry)` is a click on an example.
 * @param {SamplesPage} page
 */
export function samples({ current, examples, attach, score, turn, ask, example, prefer }) {
  const paste = box((text, atOnce) => current().write(text, atOnce), { id: "box", rows: 5 });
  const files = chooser("Choose files", attach, { id: "files" });
  const next = () => (byId("paste").hidden ? byId("files") : paste).focus();
  byId("paste").append(paste);
  byId("chip").after(files);
  byId("clear").addEventListener("click", () => {
    current().clear();
    next();
  });
  byId("dataset").addEventListener("submit", (event) => {
    event.preventDefault();
    const name = byId("dataset-name").value.trim();
    if (name) current().fetchDataset(name, prefer());
  });

  function draw() {
    const given = current();
    const asked = ASKED[given.kind];
    const attached = chip(given, next);
    byId("paste").hidden = !asked || attached !== null;
    byId("box-label").textContent = asked ?? "";
    paste.placeholder = asked ?? "";
    if (paste.value !== given.text) {
      paste.value = given.text;
      paste.scrollTop = 0;
    }
    paste.classList.toggle("seen", Boolean(given.read ?? given.before));
    byId("clear").hidden = given.source === "" && !given.text;
    fill(byId("chip"), attached);
    byId("sources").classList.toggle("has", attached !== null);
    /** @type {Text} */ (files.lastChild).data = (!attached && FILES[given.kind]) || "Choose files";
    files.classList.toggle("zone", given.kind === "images" && attached === null);
    tries(byId("examples"), examples(), given.example, choose);
    readout(byId("read"), given, { score, turn, ask });
  }

  /** @param {Example} entry */
  function choose(entry) {
    if (current().own) confirm(byId("confirm"), what(current()), () => example(entry));
    else example(entry);
  }
  return { draw, choose };
}

/** @param {Given} given */
function what(given) {
  if (given.source === "files") return given.names.length === 1 ? given.names[0] : "your files";
  return given.source === "dataset" ? given.dataset : "what you pasted";
}

/**
 * Asks on the page itself before something of the visitor's is replaced.
 * @param {HTMLElement} container
 * @param {string} name
 * @param {() => void} go
 */
export function confirm(container, name, go) {
  const back = focused();
  /** @param {() => void} then */
  const done = (then) => () => {
    fill(container);
    if (back?.isConnected) back.focus();
    then();
  };
  const yes = button("Replace", done(go), "button");
  const no = button("Keep", done(() => {}), "button");
  fill(
    container,
    el(
      "div",
      { class: "question row", role: "group", "aria-label": `Replace ${name}?` },
      el("p", {}, `Replace ${name}?`),
      yes,
      no,
    ),
  );
  yes.focus();
}
