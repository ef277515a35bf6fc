/** Section 1: the samples of one kind, pasted, dropped, chosen, from the Hub or an example. */

import { box, byId, chip, chooser, fill, tries } from "./parts.js";
import { readout } from "./readout.js";

/** @type {Record<string, string | undefined>} */
const ASKED = {
  texts: "Paste texts: one per line, or separated by blank lines, or a table",
  molecules: "Paste SMILES: one per line, or a table with a SMILES column",
  vectors: "Paste vectors: one per row, with numbers separated by commas, tabs or spaces",
};

/**
 * Makes the section of samples. `current()` are those of the tab, `examples()` the examples.
 * @param {SamplesPage} page
 */
export function samples({ current, examples, attach, score, turn, example, prefer }) {
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
    // A dataset that cannot be loaded leaves its name and the text where they were typed.
    const isAbsent = given.source === "dataset" && given.problem !== null;
    const attached = isAbsent ? null : chip(given, next);
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
    tries(byId("examples"), given.own ? [] : examples(), given.example, example);
    readout(byId("read"), given, { score, turn });
  }

  return { draw };
}
