/** The prompt that all samples answer, which is taken out of what they have in common. */

import { cut, el } from "../dom.js";

const NAME = "Prompt (optional)";
const MEANS = "Scores are conditioned on this prompt: answers do not become similar by repeating it.";

/**
 * Appends a field to a container, shut until it is wanted. `write(text)` hears of the prompt;
 * the function that is returned shows it, where one can be taken out.
 * @param {HTMLElement} container
 * @param {(text: string) => void} write
 */
export function promptField(container, write) {
  const now = el("span", { class: "now" });
  const means = el("p", { class: "hint", id: "prompt-means" }, MEANS);
  const box = el("textarea", { "aria-label": NAME, "aria-describedby": means.id });
  box.addEventListener("input", () => write(box.value));
  const node = el("details", { class: "more prompt" }, el("summary", {}, `${NAME} `, now), box, means);
  container.append(node);
  /** @type {(text: string, offered: boolean) => void} */
  return (text, offered) => {
    node.hidden = !offered;
    now.textContent = cut(text, 60);
    if (box.value !== text) box.value = text;
  };
}

/**
 * Tells whether the kernel takes a prompt, something is there, and no sample has its own.
 * @param {KernelEntry | undefined} kernel
 * @param {(Read | null)[]} reads
 * @param {string} text
 */
export function takesPrompt(kernel, reads, text) {
  const own = reads.some((read) => read?.prompts);
  return Boolean(kernel?.prompts) && (reads.length > 0 || text !== "") && !own;
}
