/** Meaning near wording: the second number of a set of texts, filled in when the server has it. */

import { el, score, trouble } from "../dom.js";

/** The line of both numbers; null where one kernel alone compares these samples. */
export function second(view) {
  const { R } = view;
  if (!R.second) return null;
  const said = el("span", { role: "status" });
  const busy = el("span", { class: "r-busy" });
  const show = () => said.replaceChildren(R.second.sentence);
  if (R.second.sentence) show();
  else ask(view, said, busy, show);
  return el("p", { class: "r-second" }, said, busy);
}

async function ask(view, said, busy, show) {
  const { R } = view;
  const { own, by } = R.second;
  said.replaceChildren();
  const tell = (words) => {
    busy.textContent = `${score(R.VS)} by ${own}; by ${by}: ${words}`;
  };
  tell("computing …");
  try {
    Object.assign(R, { second: await view.followed("second", tell) });
  } catch (failure) {
    if (view.signal.aborted) return;
    tell(trouble(failure));
    const again = () => ask(view, said, busy, show);
    busy.append(" ", el("button", { type: "button", class: "r-button", onclick: again }, "Try again"));
    return;
  }
  R.code = R.second.code;
  busy.replaceChildren();
  show();
  view.tell("second", R.second);
}

/** The notes on the second number, once it is there. */
export function notes(view) {
  const box = el("div", { class: "r-second-notes" });
  const fill = ({ notes: all = [] }) => box.replaceChildren(
    ...all.map((note) => el("p", { class: "r-small" }, note)),
  );
  if (!view.R.second) return null;
  fill(view.R.second);
  view.on("second", fill);
  return box;
}
