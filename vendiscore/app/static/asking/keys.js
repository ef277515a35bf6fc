/** What the keyboard does: Ctrl or ⌘ with Enter scores, Escape stops, arrows go over the tabs. */

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/** `score()` on Ctrl+Enter or ⌘+Enter anywhere; `stop()` on Escape. */
export function keys({ score, stop }) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      score();
    } else if (event.key === "Escape" && !event.defaultPrevented) stop();
  });
}

/** Tabs as everywhere: one of them in the order of focus, arrows, Home and End to the others. */
export function tabKeys(list, choose) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  for (const tab of all) tab.addEventListener("click", () => choose(tab.dataset.tab));
  list.addEventListener("keydown", (event) => {
    const ends = { Home: 0, End: all.length - 1 };
    const beside = all.indexOf(document.activeElement) + STEPS[event.key];
    const tab = all[ends[event.key] ?? (beside + all.length) % all.length];
    if (!tab) return;
    event.preventDefault();
    tab.focus();
    choose(tab.dataset.tab);
  });
  return (name) => {
    for (const tab of all) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
  };
}

export const scoreKey = /Mac|iP(hone|ad|od)/.test(navigator.userAgent) ? "⌘ ⏎" : "Ctrl ⏎";
