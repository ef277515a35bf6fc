/** Details whose body is fetched when they are opened. */

import { el, trouble } from "../dom.js";

/**
 * Makes a section whose body is fetched by `ask()` when it is opened. `fill(answer)` makes the body;
 * `without()` what follows an error.
 * @template Answer
 * @param {View} view
 * @param {() => Promise<Answer>} ask
 * @param {HTMLElement} summary
 * @param {HTMLElement} body
 * @param {(answer: Answer) => Part[]} fill
 * @param {() => Node[]} [without]
 */
export function fetched(view, ask, summary, body, fill, without = () => []) {
  const details = el("details", { class: "r-details" }, summary, body);
  let asked = false;
  details.addEventListener("toggle", async () => {
    if (!details.open || asked) return;
    asked = true;
    try {
      const nodes = fill(await ask());
      body.replaceChildren(...nodes.flat(9).filter((node) => node instanceof Node));
    } catch (failure) {
      if (view.signal.aborted) return;
      asked = false;
      const problem = el("p", { class: "r-problem", role: "alert" }, trouble(failure));
      body.replaceChildren(problem, ...without());
    }
  });
  return el("section", {}, details);
}
