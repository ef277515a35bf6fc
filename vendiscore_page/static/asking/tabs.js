/** The open tab, and samples that go with the visitor from one tab to another. */

import { el } from "../dom.js";
import { Given } from "./given.js";
import { step } from "./memory.js";
import { page } from "./page.js";
import { byId, fill } from "./parts.js";
import { KINDS } from "./state.js";

/**
 * Fills `page.givens`. `mark(tab)` marks the open tab, `drawn(tab)` draws it; `changed` handles
 * changes of samples.
 * @param {TabsPage} page
 */
export function makeTabs({ mark, drawn, changed, score, announce }) {
  /** @param {Kind} kind */
  const anew = (kind) => (page.givens[kind] = new Given(kind, { changed, turned }));
  /** @returns {Given | null} */
  const current = () => (page.tab === "compare" ? null : page.givens[page.tab]);
  for (const kind of KINDS) anew(kind);

  /** @param {Tab} tab */
  function open(tab) {
    page.tab = tab;
    mark(tab);
    byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
    byId("samples").hidden = tab === "compare";
    byId("compare").hidden = tab !== "compare";
    /** @type {Text} */ (byId("score").firstChild).data = tab === "compare" ? "Compare" : "Score";
    fill(byId("sets-confirm"));
    fill(byId("turned"));
    drawn(tab);
  }

  /** @param {Tab} tab */
  function choose(tab) {
    page.chosen = true;
    carry(tab);
    step(() => open(tab));
  }

  /**
   * Takes samples that cannot be what this tab takes to another that has nothing yet.
   * @param {Tab} tab
   */
  function carry(tab) {
    const from = page.tab;
    if (from === "compare" || from === tab) return;
    const here = page.givens[from];
    if (tab === "compare") {
      const grouped = (here.read?.groups ?? 0) > 1;
      if (grouped && !page.sets.filled().length) page.sets.adopt(here);
    } else if (here.own && !page.givens[tab].source && (here.problem || here.read?.kinds.includes(tab))) {
      page.givens[tab] = here;
      anew(from);
      here.turn(tab);
    }
  }

  /** @param {Given} given */
  function turned(given) {
    const from = KINDS.find((kind) => page.givens[kind] === given);
    if (!from) return;
    const { text } = given;
    const kind = /** @type {Kind} */ (given.kind);
    given.text = page.givens[kind].text;
    page.givens[kind] = given;
    anew(from).write(text, true);
    if (page.tab !== from) return;
    open(kind);
    fill(byId("turned"), el("p", { class: "hint" }, `These samples are ${kind}, so they were moved to this tab.`));
    announce(`${given.read?.name} contains ${kind}. The tab for ${kind} is now open.`);
  }

  /**
     * @param {Asked} [options]
   * @param {() => void} [then]
   */
  function compare(options = {}, then = score) {
    const given = current();
    if (!given) return;
    const { kernel, options: chosen, q } = page.settings[page.tab];
    Object.assign(page.settings.compare, { kernel, options: { ...chosen }, q, arguments: "" });
    delete page.lent.compare;
    page.drawn = null;
    step(() => open("compare"));
    page.sets.adopt(given, { options, then });
  }

  /**
   * Scores the table of a comparison on the tab of its kind, read by `options`.
   * @param {Given} given
   * @param {Asked} options
   * @param {() => void} then
   */
  function back(given, options, then) {
    const kind = /** @type {Kind} */ (given.kind);
    const { kernel, options: chosen, q } = page.settings.compare;
    Object.assign(page.settings[kind], { kernel, options: { ...chosen }, q, arguments: "" });
    delete page.lent[kind];
    page.givens[kind].prompt = page.sets.prompt;
    page.givens[kind].copy(given, options);
    page.drawn = null;
    step(() => open(kind));
    then();
  }
  return { current, open, choose, compare, back };
}
