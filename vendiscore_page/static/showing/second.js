/** Meaning near wording: the second number of a set of texts, filled in when the server has it. */

import { el, score, trouble, vendi } from "../dom.js";

/**
 * Makes the line of both numbers; null where one kernel alone compares these samples.
 * @param {View} view
 */
export function second(view) {
  const { R } = view;
  if (!R.second) return null;
  const said = el("span", { role: "status" });
  const busy = el("span", { class: "r-busy" });
  const show = () => said.replaceChildren(R.second?.sentence ?? "");
  if (R.second.sentence) show();
  else ask(view, R.second, said, busy, show);
  return el("p", { class: "r-second" }, said, busy);
}

/**
 * @param {View} view
 * @param {Second} first
 * @param {HTMLElement} said
 * @param {HTMLElement} busy
 * @param {() => void} show
 */
async function ask(view, { own, by }, said, busy, show) {
  const { R } = view;
  said.replaceChildren();
  /** @param {string} words */
  const tell = (words) => {
    busy.textContent = `${score(vendi(R))} by ${own}; by ${by}: ${words}`;
  };
  tell("computing …");
  /** @type {Second} */
  let found;
  try {
    found = await view.followed("second", tell);
  } catch (failure) {
    if (view.signal.aborted) return;
    tell(trouble(failure));
    const again = () => ask(view, { own, by }, said, busy, show);
    busy.append(" ", el("button", { type: "button", class: "r-button", onclick: again }, "Try again"));
    return;
  }
  R.second = found;
  R.code = found.code ?? R.code;
  busy.replaceChildren();
  show();
  view.tell("second", found);
}

/**
 * Makes the notes on the second number, which are filled in once it is there.
 * @param {View} view
 */
export function notes(view) {
  const box = el("div", {});
  /** @param {Second} second */
  const fill = ({ notes: all = [] }) => box.replaceChildren(...all.map((note) => el("p", { class: "r-small" }, note)));
  if (view.R.second) fill(view.R.second);
  view.on("second", fill);
  return box;
}
