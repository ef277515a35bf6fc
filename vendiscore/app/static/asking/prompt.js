/** The prompt that all samples answer, which is taken out of what they have in common. */

import { cut, el } from "../dom.js";

const NAME = "Prompt (optional)";
const MEANS = "Answers no longer count as alike for repeating what it says.";

/**
 * A field that stays shut until it is wanted, appended to a container. `write(text)` hears of the
 * prompt; `draw(text, offered)` shows it, where one can be taken out.
 */
export function promptField(container, write) {
  const now = el("span", { class: "now" });
  const oninput = (event) => write(event.target.value);
  const means = el("p", { class: "hint", id: "prompt-means" }, MEANS);
  const box = el("textarea", { "aria-label": NAME, "aria-describedby": means.id, oninput });
  const node = el("details", { class: "more prompt" }, el("summary", {}, `${NAME} `, now), box, means);
  container.append(node);
  return (text, offered) => {
    node.hidden = !offered;
    now.textContent = cut(text, 60);
    if (box.value !== text) box.value = text;
  };
}

/** The kernel takes a prompt, something is there, and its samples have none of their own. */
export function takesPrompt(kernel, reads, text) {
  return Boolean(kernel?.prompts) && (reads.length > 0 || text !== "") && !hasOwn(reads);
}

export const hasOwn = (reads) => reads.some((read) => read?.prompts);
