/** The example that the page opens on: a result as any other, until a visitor has one. */

import { find } from "../dom.js";
import { call, follow } from "./calls.js";
import { byId, button } from "./parts.js";
import { clear, showComparison } from "../showing/result.js";

const NARROW = "(max-width: 60rem)"; // where what is asked stands above the result, as in base.css

/**
 * Shows the example, on a phone above what is asked, and passes it to `shows`. Returned are `end`,
 * which removes it and calls `shows(null)`, and `dim`, which dims it where there are other samples.
 * @param {Announce} announce
 * @param {(answer: Compared | null) => void} shows
 */
export function showExample(announce, shows) {
  const section = byId("example");
  let isWanted = true;
  const below = () => byId("result").after(section);
  /** @param {Compared} answer */
  const show = (answer) => {
    const shown = find(section, "div");
    if (!isWanted || !shown) return;
    if (matchMedia(NARROW).matches) {
      byId("panel").prepend(section);
      byId("tabs").addEventListener("click", below, { once: true });
    }
    section.hidden = false;
    let speaks = false; // nobody asked for it
    showComparison(shown, answer, { call, follow, announce: (text) => speaks && announce(text) });
    speaks = true;
    const more = button("More of this example", () => {
      section.classList.remove("short");
      more.remove();
    });
    section.append(more);
    shows(answer);
  };
  const { href } = byId("example-answer");
  fetch(href).then((response) => response.json()).then(show, () => {});
  return {
    end() {
      if (!isWanted) return;
      isWanted = false;
      const shown = find(section, "div");
      if (shown) clear(shown);
      section.remove();
      shows(null);
    },
    /** @param {boolean} is */
    dim(is) {
      if (is && isWanted && !section.inert) below();
      section.inert = is;
    },
  };
}
