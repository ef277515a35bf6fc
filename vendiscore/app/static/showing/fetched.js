/** Details whose body is fetched when they are opened. */

import { el, trouble } from "../dom.js";

/**
 * The section of a summary and a body, which `fill(answer)` gives its nodes; `without()` those
 * that stand there beneath what went wrong.
 */
export function fetched(view, path, summary, body, fill, without = () => []) {
  const details = el("details", { class: "r-details" }, summary, body);
  let asked = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || asked) return;
    asked = true;
    try {
      body.replaceChildren(...fill(await view.asked(path, {})));
    } catch (failure) {
      asked = false;
      const problem = el("p", { class: "r-problem", role: "alert" }, trouble(failure));
      body.replaceChildren(problem, ...without());
    }
  });
  return el("section", {}, details);
}
