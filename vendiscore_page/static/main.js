/** The page: its parts put together, its tabs, and what outlives a reload. */

import { alike, download } from "./asking/alike.js";
import { get } from "./asking/calls.js";
import { comparing } from "./asking/compare.js";
import { el } from "./dom.js";
import { drop } from "./asking/drop.js";
import { showExample } from "./asking/example.js";
import { keys, tabKeys } from "./asking/keys.js";
import { remember, restore, writeHash } from "./asking/memory.js";
import { advise, givensOf, kernelsOf, lend, lendExample, now, page, promptOf, subjectOf, takeBack } from "./asking/page.js";
import { button, byId, fill, onPress } from "./asking/parts.js";
import { promptField } from "./asking/prompt.js";
import { questionMenu } from "./asking/questions.js";
import { runner } from "./asking/run.js";
import { samples } from "./asking/samples.js";
import { scoreOf, scoring } from "./asking/scoring.js";
import { results } from "./asking/shown.js";
import { fromHash, kept } from "./asking/state.js";
import { makeTabs } from "./asking/tabs.js";

const { current, open, choose, compare, back } = makeTabs({
  mark: tabKeys(byId("tabs"), (tab) => choose(tab)),
  drawn(tab) {
    shown.draw(tab);
    redraw();
  },
  changed,
  score: () => score(),
  announce,
});
const opening = showExample(announce, (example) => {
  page.example = example && { kernel: example.kernel, kind: example.kind, tabs: null };
  redraw();
});
const shown = results(byId("result"), {
  announce,
  // Before there is a menu, one cannot say what has changed.
  now: (tab) => (page.menu ? null : shown.of(tab)?.of) ?? now(tab),
  renew: (tab, of) => scoreOf(tab, of, { signal: new AbortController().signal, said() {} }),
  moved(tab, threshold) {
    page.thresholds[tab] = threshold;
    writeHash();
  },
  empty,
});
let waits = false;
const running = runner(
  { go: byId("score"), stop: byId("stop"), progress: byId("progress") },
  announce,
  (is) => {
    waits = is;
    byId("result").setAttribute("aria-busy", String(is));
    shown.wait();
  },
);
/** @type {Shown["put"]} */
const put = (...result) => {
  opening.end();
  shown.put(...result);
};
const work = scoring({ shown: { ...shown, put }, redraw, announce, compare });
/** @returns {Promise<void>} */
const score = () => running.run(page.tab === "compare" ? work.compared : work.scored);
page.sets = comparing({ changed: redraw, score, examples: () => page.menu?.compare.examples ?? [] });
/** Returns the samples of the tab, which is not the one that compares. */
const mine = () => /** @type {Given} */ (current());
const given = samples({
  current: mine,
  examples: () => (page.tab === "compare" ? [] : (page.menu?.kinds[page.tab].examples ?? [])),
  attach,
  prefer: preferred,
  score,
  turn: (kind) => mine().turn(kind),
  example,
});
const questions = questionMenu({ score, compare, back });
const prompted = promptField(byId("prompt"), (text) => (current() ?? page.sets).answer(text));

/** @param {string} text */
function announce(text) {
  byId("said").textContent = "";
  setTimeout(() => (byId("said").textContent = text), 50); // the same words are said again, too
}

/** Says what the result waits for, where it will be. */
function empty() {
  const givens = givensOf(page.tab);
  const has = givens.some(({ source }) => source);
  const fails = subjectOf(page.tab).problem || givens.some(({ problem }) => problem);
  /** @type {(kind: string, head: string, words: string) => HTMLElement[]} */
  const say = (kind, head, words) => [el("p", { class: `empty ${kind}` }, el("b", {}, head), words)];
  opening.dim(has || waits);
  if (waits) return say("waits", "Working on your samples", "The result will appear here.");
  if (givens.some(({ question }) => question)) return say("asks", "A question about your samples", "Answer it beside the samples, then press the button below them.");
  if (fails) return say("fails", "No result yet", "The message beside the samples says what to do.");
  if (has) return say("", "Ready", "Press the button below the samples to see how many of them are different.");
  return say("", "Drop your samples here", "Texts, a table, images, molecules or vectors. Or look at the example first.");
}

/**
 * Returns the kind of the tab that the visitor chose, for files that could be of several.
 * @returns {Kind | ""}
 */
function preferred() {
  return page.chosen && page.tab !== "compare" ? page.tab : "";
}

/**
 * @param {File[]} files
 * @param {EventTarget | null} [target]
 */
function attach(files, target = null) {
  if (page.tab === "compare") page.sets.dropped(files, target);
  else mine().attach(files, preferred());
}

function drawAlike() {
  const { kind, absent, note, kernels, usual } = kernelsOf(page.tab);
  if (page.drawn === kernels || !page.menu) return;
  page.drawn = kernels;
  const settings = page.settings[page.tab];
  if (!kernels.some(({ kernel }) => kernel === settings.kernel)) settings.kernel = usual;
  const changed = () => {
    delete page.lent[page.tab];
    drawPrompt();
    shown.age(page.tab);
    writeHash();
  };
  const fetch = absent.map((kernel) =>
    download(kind, kernel, running.run, () => {
      settings.kernel = kernel;
      page.listed.clear();
      page.loading = loadMenu(null);
    }),
  );
  const beneath = [...(note ? [el("p", { class: "hint" }, note)] : []), ...fetch];
  /** @param {Promise<void>} work */
  const busy = (work) => (page.loading = work);
  const editing = { kind, ofSets: page.tab === "compare", busy };
  alike(byId("kernels"), kernels, settings, page.menu.limits.q, changed, beneath, editing);
}

function drawPrompt() {
  const { prompt, offered } = promptOf(page.tab);
  const at = byId(page.tab === "compare" ? "compare" : "samples");
  if (!at.contains(byId("prompt"))) at.append(byId("prompt"));
  prompted(prompt, offered);
}

function redraw() {
  if (page.tab === "compare") page.sets.draw();
  else given.draw();
  const changes = [takeBack(page.tab), lendExample(), advise(page.tab)];
  if (changes.includes(true)) page.drawn = null;
  drawAlike();
  drawPrompt();
  questions.draw();
  shown.wait();
  shown.age(page.tab);
  writeHash();
}

/** @param {Given} subject */
function changed(subject) {
  redraw();
  const { read } = subject;
  if (subject !== current() || !read || read.key === subject.told) return;
  subject.told = read.key;
  announce(`${read.name}: ${read.taken || `${read.said}.`}`);
  if (!subject.asked.matrix) return;
  lend(page.tab, "K");
  page.drawn = null;
  redraw();
}

/** @param {Example} entry */
function example(entry) {
  mine().pick(entry.name, entry.prompt);
  page.settings[page.tab].arguments = entry.arguments ?? "";
  if (entry.kernel) lend(page.tab, entry.kernel);
  page.drawn = null;
  redraw();
  score();
}

/** @param {Link} link */
function follow(link) {
  const settings = page.settings[link.tab];
  Object.assign(settings, { kernel: link.kernel || settings.kernel, q: link.q, arguments: link.arguments });
  if (link.kernel) settings.options[link.kernel] = link.options;
  if (link.threshold !== null) page.thresholds[link.tab] = link.threshold;
  if (link.prompt) subjectOf(link.tab).prompt = link.prompt;
  page.drawn = null;
  open(link.tab);
}

/**
 * Scores the example that an address names, unless its result is here.
 * @param {Link | null} link
 */
function linked(link) {
  if (!page.menu || !link?.example || shown.isNow(link.tab)) return;
  const { prompt, kernel, tab } = link;
  const how = { prompt, arguments: link.arguments, ...(kernel ? { kernel: "" } : {}) };
  /** @type {<Entry extends Example>(entries: Entry[]) => Entry[]} */
  const meant = (entries) => entries.filter(({ name }) => name === link.example);
  if (tab === "compare") {
    for (const entry of meant(page.menu.compare.examples)) page.sets.load({ ...entry, ...how });
  } else if (!mine().own) {
    for (const entry of meant(page.menu.kinds[tab].examples)) example({ ...entry, ...how });
  }
}

/** @param {Link | null} link */
async function loadMenu(link) {
  /** @type {Menu} */
  let menu;
  try {
    menu = page.menu = await get("/page/menu");
  } catch (error) {
    const { message } = /** @type {Failure} */ (error);
    const again = button("Try again", () => (page.loading = loadMenu(link)), "button");
    fill(byId("kernels"), el("div", { class: "trouble", role: "alert" }, message, again));
    return;
  }
  byId("limits").textContent = menu.limits.sentence;
  for (const [name, href] of Object.entries(menu.links)) byId("links").append(" · ", el("a", { href }, name));
  redraw();
  linked(link);
}

function start() {
  const record = kept();
  /** @type {PerformanceEntry & {type?: string} | undefined} */
  const entry = performance.getEntriesByType("navigation")[0];
  const { navigation } = performance; // is there even where a busy browser has no entry yet
  const isReload = entry ? entry.type === "reload" : navigation.type === navigation.TYPE_RELOAD;
  if (record && (isReload || record.was === location.hash)) {
    history.replaceState(history.state, "", record.hash);
  }
  const link = fromHash(location.hash);
  page.chosen = link !== null && link.tab !== "texts";
  if (record) restore(record, link, shown);
  if (link?.example || record?.result) opening.end();
  if (link) follow(link);
  else open(record?.tab ?? page.tab);
  onPress(byId("score"), score);
  byId("result").addEventListener("compare", () => compare());
  keys({ score, stop: running.end });
  drop(byId("shade"), attach, (text) => (current() ?? page.sets).write(text, true));
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("result").focus();
  });
  addEventListener("pagehide", () => remember(shown));
  addEventListener("popstate", ({ state }) => state?.tab && open(state.tab));
  addEventListener("hashchange", () => {
    if (history.state?.tab) return; // a step of this page's own
    const to = fromHash(location.hash);
    if (!to) return;
    follow(to);
    linked(to);
  });
  page.loading = loadMenu(link);
}

start();
