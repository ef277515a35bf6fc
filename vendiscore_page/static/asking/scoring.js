/** Score and Compare: the samples are sent, and a result or a problem comes back. */

import { find, reveal } from "../dom.js";
import { asked, now, page } from "./page.js";
import { byId } from "./parts.js";
import { currentQuestion } from "./questions.js";
import { worked } from "./run.js";

/**
 * Returns the work of a runner, `scored(tools)` and `compared(tools)`. A table whose question is about
 * its models is passed to `compare(options)`.
 * @param {{shown: Shown, redraw: () => void, announce: Announce, compare: (options: Asked) => void}} page
 */
export function scoring({ shown, redraw, announce, compare }) {
  /** @param {Tools} tools */
  async function scored(tools) {
    if (page.tab === "compare") return;
    const given = page.givens[page.tab];
    announce("Scoring.");
    tools.said("Reading the samples");
    const read = await given.ready();
    await page.loading;
    tools.signal.throwIfAborted();
    const tab = /** @type {Kind} */ (given.kind); // files may have turned out to be of another
    if (!read) return failed(tab);
    given.leaveOut ||= Boolean(read.problems?.others);
    const question = currentQuestion(read);
    if (question?.compares) return compare(question.options);
    tools.said("Scoring");
    const of = now(tab);
    await finish(tab, given, () => scoreOf(tab, of, tools), of);
  }

  /** @param {Tools} tools */
  async function compared(tools) {
    const { sets } = page;
    announce("Comparing.");
    tools.said("Reading the sets");
    const cards = await sets.ready();
    await page.loading;
    tools.signal.throwIfAborted();
    if (!cards) return failed("compare");
    tools.said("Comparing");
    const how = asked("compare");
    const body = () => ({
      sets: cards.map((card) => ({ key: card.given.read?.key, name: card.name() })),
      ...how,
      ...("arguments" in how ? {} : { leave_out: sets.leaveOut }),
    });
    const path = "arguments" in how ? "/page/compute" : "/page/compare";
    const again = async () => (await Promise.all(cards.map(({ given }) => given.again()))).every(Boolean);
    const of = now("compare");
    await finish("compare", sets, () => worked(path, body, again, tools), of);
  }

  /**
   * @param {Tab} tab
   * @param {Given | Sets} subject
   * @param {() => Promise<Result | Compared | null>} work
   * @param {Of} of
   */
  async function finish(tab, subject, work, of) {
    try {
      const answer = await work();
      if (!answer) return failed(tab);
      subject.problem = null;
      shown.put(tab, answer, of);
      if (tab === page.tab) seen(tab);
      else announce("The result on the other tab is ready.");
    } catch (error) {
      const { problem } = /** @type {Failure} */ (error);
      if (!problem) throw error;
      subject.problem = problem;
      failed(tab);
    }
  }

  /** @param {Tab} tab */
  function seen(tab) {
    redraw();
    shown.draw(tab);
    requestAnimationFrame(show); // once what said how far it was is gone
  }

  /** Scrolls to the result where it begins below what is in sight, as on a phone. */
  function show() {
    const result = byId("result");
    const below = result.getBoundingClientRect().top > 0.6 * innerHeight;
    if (below) reveal(result);
  }

  /**
   * Shows what is wrong where the samples are, and moves the focus to it or to its button.
   * @param {Tab} tab
   */
  function failed(tab) {
    redraw();
    if (tab !== page.tab) return;
    const where = byId(tab === "compare" ? "compare" : "samples");
    const trouble = find(where, ".trouble, .question");
    trouble?.scrollIntoView({ block: "nearest" });
    if (trouble) (find(trouble, ":scope > button, :scope > .row button") ?? trouble).focus();
  }
  return { scored, compared };
}

/**
 * Returns the result of a tab for what it is `of`; null once its samples are others.
 * @param {Tab} tab
 * @param {Of} of
 * @param {Tools} tools
 * @returns {Promise<Result | null>}
 */
export async function scoreOf(tab, of, tools) {
  if (tab === "compare") return null;
  const given = page.givens[tab];
  if (now(tab).data !== of.data) return null;
  const settings = JSON.parse(of.settings);
  const body = () => ({
    key: given.read?.key,
    ...settings,
    ...(settings.arguments ? {} : {
      leave_out: given.leaveOut,
      threshold: page.thresholds[tab], // undefined is left out
    }),
  });
  const path = settings.arguments ? "/page/compute" : "/page/score";
  return worked(path, body, () => given.again(), tools);
}
