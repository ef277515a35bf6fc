/** The open tab, and samples that go with the visitor from one tab to another. */

import { el } from "../dom.js";
import { Given } from "./given.js";
import { step } from "./memory.js";
import { page } from "./page.js";
import { byId, fill } from "./parts.js";
import { KINDS } from "./state.js";

const NAMES = { texts: "Text", images: "Images", molecules: "Molecules", vectors: "Vectors" };

/**
 * Fills `page.givens`. `mark(tab)` shows which is open, `drawn()` draws what it has; `changed`
 * hears of every change of samples, `score()` compares, `announce(text)` speaks.
 */
export function makeTabs({ mark, drawn, changed, score, announce }) {
  const anew = (kind) => (page.givens[kind] = new Given(kind, { changed, turned }));
  const current = () => page.givens[page.tab] ?? null;
  for (const kind of KINDS) anew(kind);

  function open(tab) {
    page.tab = tab;
    mark(tab);
    byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
    byId("samples").hidden = tab === "compare";
    byId("compare").hidden = tab !== "compare";
    byId("score").firstChild.data = tab === "compare" ? "Compare" : "Score";
    fill(byId("confirm"));
    fill(byId("turned"));
    drawn(tab);
  }

  /** The visitor's choice, which Back undoes. */
  function choose(tab) {
    page.chosen = true;
    carry(tab);
    step(() => open(tab));
  }

  /** What cannot be what this tab takes goes with the visitor to another that has nothing yet. */
  function carry(tab) {
    const here = current();
    const there = page.givens[tab];
    if (tab === "compare" && here?.read?.groups > 1 && !page.sets.filled().length) {
      page.sets.adopt(here);
    }
    if (!here?.own || !there || there.source !== "" || tab === page.tab) return;
    if (!here.problem && !here.read?.kinds?.includes(tab)) return;
    page.givens[tab] = here;
    anew(page.tab);
    here.turn(tab);
  }

  /** Files of another kind than the tab: they go to its tab, and the page with them. */
  function turned(given) {
    const from = KINDS.find((kind) => page.givens[kind] === given);
    if (!from) return;
    const { kind, text } = given;
    given.text = page.givens[kind].text;
    page.givens[kind] = given;
    anew(from);
    if (text) page.givens[from].write(text, true);
    if (page.tab !== from) return;
    open(kind);
    fill(byId("turned"), el("p", { class: "hint" }, `These are ${kind}, so the page turned to their tab.`));
    announce(`${given.read.name} holds ${kind}: the page turned to ${NAMES[kind]}.`);
  }

  /** The sets of this tab's samples, which `options` may tell apart, side by side. */
  function compare(options = {}, then = score) {
    const given = current();
    const { kernel, options: chosen, q } = page.settings[page.tab];
    Object.assign(page.settings.compare, { kernel, options: { ...chosen }, q });
    page.drawn = null;
    step(() => open("compare"));
    page.sets.adopt(given, { options, then });
  }
  return { current, open, choose, compare };
}
