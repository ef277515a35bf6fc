/** The result of each tab: shown, marked as old when what it is of changes, and kept alive. */

import { call, follow } from "./calls.js";
import { clear, markOld, show, showComparison } from "../showing/result.js";

const OLD = {
  data: "The samples have changed since this result: score again.",
  settings: "The settings have changed since this result: score again.",
};

/**
 * The results in a container. `now(tab)` says what a result would be of, {data, settings};
 * `renew(tab, of)` gives one anew; `moved(tab, threshold)` hears of the threshold of groups;
 * `empty(tab)` is what stands there before there is one.
 */
export function results(container, { announce, now, renew, moved, empty }) {
  const entries = {};
  let marked = "";
  let seen = "";

  container.addEventListener("threshold", ({ detail: { threshold, groups, without } }) => {
    Object.assign(entries[seen].answer, { threshold, groups, without });
    moved(seen, threshold);
  });

  function put(tab, answer, of) {
    entries[tab] = { answer, of, id: answer.id };
  }

  function draw(tab) {
    const entry = entries[tab];
    marked = "";
    seen = tab;
    if (!entry) {
      clear(container);
      container.append(...empty(tab));
      return;
    }
    const draw = tab === "compare" ? showComparison : show;
    const tools = { call: caller(tab, entry, call), follow: caller(tab, entry, follow), announce };
    draw(container, entry.answer, tools);
    age(tab);
  }

  function changed(tab) {
    const { of } = entries[tab];
    const { data, settings } = now(tab);
    if (data !== of.data) return "data";
    return settings === of.settings ? "" : "settings";
  }

  function age(tab) {
    if (!entries[tab]) return;
    const why = changed(tab);
    if (why === marked) return;
    markOld(container, OLD[why] ?? "");
    marked = why;
  }

  /** Calls about a result: what is no longer kept is made anew, once, without a word. */
  function caller(tab, entry, way) {
    const ask = (path, body, options) => way(path, { ...body, id: entry.id }, options);
    return async (path, body, options) => {
      try {
        return await ask(path, body, options);
      } catch (error) {
        if (!error.gone || tab === "compare") throw error;
        entry.renewing ??= renew(tab, entry.of).finally(() => (entry.renewing = null));
        const answer = await entry.renewing;
        if (!answer) throw error;
        entry.id = answer.id;
        return ask(path, body, options);
      }
    };
  }

  return {
    put,
    draw,
    age,
    of: (tab) => entries[tab] ?? null,
    isNow: (tab) => Boolean(entries[tab]) && !changed(tab),
  };
}
