/** The menu of questions that a table can answer, above the result. */

import { el, newId, reveal } from "../dom.js";
import { page } from "./page.js";
import { byId, fill } from "./parts.js";

// Where the result answers it.
/** @type {Record<string, string>} */
const ANSWERS = { clusters: ".r-groups", quality: ".r-quality", sources: ".r-sources", subset: ".r-subset > details" };
const OTHER = "Score the samples as selected";

/**
 * Returns the question that is answered by samples as they were read; null without one.
 * @param {Read | null} read
 */
export const currentQuestion = (read) => read?.questions?.find(({ label }) => label === read.current) ?? null;

/**
 * Makes the menu. `score()` scores, `compare(options, then)` compares sets, and `back(given, options,
 * then)` scores a table on the tab of its kind.
 * @param {QuestionsPage} page
 */
export function questionMenu({ score, compare, back }) {
  let picked = ""; // the label of the latest choice, of several that need the same reading
  let drawn = "";

  /** @param {string} show */
  const answer = async (show) => {
    await score();
    if (show) requestAnimationFrame(() => found(show));
  };

  /**
   * @param {Given} given
   * @param {TableQuestion} question
   */
  function ask(given, { label, options, compares, show }) {
    picked = label;
    const then = () => answer(show);
    if (compares !== (page.tab === "compare")) return compares ? compare(options, then) : back(given, options, then);
    if (!given.isReadBy(options)) given.ask(options);
    return then();
  }

  return {
    draw() {
      const given = table();
      const read = given?.read ?? given?.before ?? null;
      const questions = given ? offered(given, read) : [];
      const chosen = questions.find(({ label, options }) => label === picked && given?.isReadBy(options));
      const { label = "" } = chosen ?? currentQuestion(read) ?? {};
      const state = JSON.stringify([page.tab, questions.map((each) => each.label), label]);
      if (state === drawn) return;
      drawn = state;
      const id = newId("question");
      const select = el("select", { id, "data-at": "question" },
        label ? null : el("option", { value: "" }, OTHER),
        questions.map((each) => el("option", { value: each.label }, each.label)));
      select.value = label;
      select.addEventListener("change", () => {
        const question = questions.find((each) => each.label === select.value);
        const now = table();
        if (question && now) ask(now, question);
      });
      fill(byId("question"), questions.length > 0 && [el("label", { for: id }, "Show:"), select]);
    },
  };
}

/** Returns the samples that may be a table: those of the tab, or the only set; null for several. */
function table() {
  if (page.tab !== "compare") return page.givens[page.tab];
  const [first, ...more] = page.sets.filled();
  return first && !more.length ? first.given : null;
}

/**
 * Returns the questions that can be asked on this tab: a set is not scored where that would replace
 * other samples of the visitor.
 * @param {Given} given
 * @param {Read | null} read
 */
function offered(given, read) {
  const questions = read?.questions ?? [];
  const other = page.tab === "compare" && read ? page.givens[read.kind] : null;
  const isFree = !other?.own || other.sent() === given.sent();
  return questions.filter(({ compares }) => compares || isFree);
}

/** @param {string} show */
function found(show) {
  const part = byId("result").querySelector(ANSWERS[show]);
  if (part instanceof HTMLDetailsElement) part.open = true;
  const section = part?.closest("section");
  if (section) reveal(section);
  part?.querySelector("input")?.select();
}
