/** The result of each tab: shown, marked as old when its samples change, and kept alive. */

import { call, follow } from "./calls.js";
import { clear, markOld, show, showComparison, showValues } from "../showing/result.js";

const OLD = "have changed since this result was computed. Score again.";

/**
 * Shows results in a container. `now(tab)` says what a result would be of; `renew(tab, of)` gives
 * one anew; `moved(tab, threshold)` hears of the threshold of groups; `empty()` stands there
 * before there is one.
 * @param {HTMLElement} container
 * @param {ShownPage} page
 */
export function results(container, { announce, now, renew, moved, empty }) {
  /** @type {{[tab in Tab]?: Entry}} */
  const entries = {};
  let marked = "";
  /** @type {Tab | ""} */
  let seen = "";

  container.addEventListener("threshold", ({ detail: { threshold, boundary, groups, without } }) => {
    const answer = seen && entries[seen]?.answer;
    if (!seen || !answer) return;
    Object.assign(answer, { threshold, boundary, groups, without });
    moved(seen, threshold);
  });

  /** Says anew what the result waits for, if there is none. */
  function wait() {
    if (seen && !entries[seen]) container.replaceChildren(...empty());
  }

  /** @param {Tab} tab */
  function draw(tab) {
    const entry = entries[tab];
    marked = "";
    seen = tab;
    if (!entry) {
      clear(container);
      wait();
      return;
    }
    const tools = { call: caller(tab, entry, call), follow: caller(tab, entry, follow), announce };
    if ("values" in entry.answer) showValues(container, entry.answer, tools);
    else if (tab === "compare") showComparison(container, /** @type {Compared} */ (entry.answer), tools);
    else show(container, /** @type {Result} */ (entry.answer), tools);
    // A note on the samples that stands next to them is not said again.
    const taken = [...document.querySelectorAll(".taken")].map((note) => note.textContent);
    for (const note of container.querySelectorAll(".r-small")) {
      if (taken.includes(note.textContent)) note.remove();
    }
    age(tab);
  }

  /** @type {(tab: Tab, entry: Entry) => string} */
  function changed(tab, { of }) {
    const { data, settings } = now(tab);
    if (data !== of.data) return `The samples ${OLD}`;
    return settings === of.settings ? "" : `The settings ${OLD}`;
  }

  /** @param {Tab} tab */
  function age(tab) {
    const entry = entries[tab];
    if (!entry) return;
    const why = changed(tab, entry);
    if (why === marked) return;
    markOld(container, why);
    marked = why;
  }

  /**
   * Makes calls about a result: what is no longer kept is made anew, once, without a word.
   * @template Options
   * @param {Tab} tab
   * @param {Entry} entry
   * @param {Way<Options>} way
   * @returns {Way<Options>}
   */
  function caller(tab, entry, way) {
    /** @type {Way<Options>} */
    const ask = (path, body, options) => way(path, { ...body, id: entry.id }, options);
    return async (path, body, options) => {
      try {
        return await ask(path, body, options);
      } catch (error) {
        if (!(/** @type {Failure} */ (error).gone) || tab === "compare") throw error;
        entry.renewing ??= renew(tab, entry.of).finally(() => (entry.renewing = null));
        const answer = await entry.renewing;
        if (!answer) throw error;
        entry.id = answer.id;
        return ask(path, body, options);
      }
    };
  }

  return {
    /** @type {(tab: Tab, answer: Entry["answer"], of: Of) => void} */
    put(tab, answer, of) {
      entries[tab] = { answer, of, id: answer.id };
    },
    draw,
    wait,
    age,
    /** @param {Tab} tab */
    of: (tab) => entries[tab] ?? null,
    /** @param {Tab} tab */
    isNow(tab) {
      const entry = entries[tab];
      return entry !== undefined && !changed(tab, entry);
    },
  };
}
