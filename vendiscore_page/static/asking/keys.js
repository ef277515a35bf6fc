/** The keyboard: Ctrl or ⌘ with Enter scores, Escape stops, arrows go over the tabs. */

/** @type {Record<string, number>} */
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Calls `score()` on Ctrl+Enter or ⌘+Enter anywhere, and `stop()` on Escape.
 * @param {{score: () => void, stop: () => void}} work
 */
export function keys({ score, stop }) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      score();
    } else if (event.key === "Escape" && !event.defaultPrevented) stop();
  });
}

/**
 * Makes tabs as everywhere: one of them in the order of focus, arrows, Home and End to the others.
 * @param {HTMLElement} list
 * @param {(tab: Tab) => void} choose
 */
export function tabKeys(list, choose) {
  /** @type {NodeListOf<HTMLElement>} */
  const found = list.querySelectorAll('[role="tab"]');
  const all = [...found];
  /** @param {HTMLElement} tab */
  const chooses = (tab) => choose(/** @type {Tab} */ (tab.dataset.tab));
  for (const tab of all) tab.addEventListener("click", () => chooses(tab));
  list.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const ends = { Home: 0, End: all.length - 1 };
    const beside = all.findIndex((each) => each === document.activeElement) + STEPS[event.key];
    const tab = all[ends[event.key] ?? (beside + all.length) % all.length];
    if (!tab) return;
    event.preventDefault();
    tab.focus();
    chooses(tab);
  });
  /** @param {Tab} name */
  return (name) => {
    for (const tab of all) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
  };
}
