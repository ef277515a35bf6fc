/** The page: its parts put together, its tabs, and what outlives a reload. */

import { alike } from "./asking/alike.js";
import { get } from "./asking/calls.js";
import { comparing } from "./asking/compare.js";
import { el } from "./dom.js";
import { drop } from "./asking/drop.js";
import { Given } from "./asking/given.js";
import { keys, scoreKey, tabs } from "./asking/keys.js";
import { remember, restore, step, writeHash } from "./asking/memory.js";
import { kernelsOf, lend, now, page, promptOf, takeBack } from "./asking/page.js";
import { button, byId, fill, onPress } from "./asking/parts.js";
import { promptField } from "./asking/prompt.js";
import { runner } from "./asking/run.js";
import { samples } from "./asking/samples.js";
import { scoreOf, scoring } from "./asking/scoring.js";
import { results } from "./asking/shown.js";
import { KINDS, fromHash, kept } from "./asking/state.js";

const NAMES = { texts: "Text", images: "Images", molecules: "Molecules", vectors: "Vectors" };
const TO_SCORE = "Paste or drop samples and press Score, or try an example.";
const TO_COMPARE = "Give two sets or more: which is more diverse, and is it more than chance?";
const MEANS =
  "Twenty answers that all say the same count as one; twenty that have nothing in common count " +
  "as twenty. Most sets are somewhere in between.";
const newGiven = (kind) => new Given(kind, { changed, turned });
for (const kind of KINDS) page.givens[kind] = newGiven(kind);
const current = () => page.givens[page.tab] ?? null;

const shown = results(byId("result"), {
  announce,
  // Before there is a menu, one cannot say what has changed.
  now: (tab) => (page.menu ? now(tab) : shown.of(tab).of),
  renew: (tab, of) => scoreOf(tab, of, { signal: new AbortController().signal, said() {} }),
  moved(tab, threshold) {
    page.thresholds[tab] = threshold;
    writeHash();
  },
  empty,
});
const running = runner(
  { go: byId("score"), stop: byId("stop"), progress: byId("progress") },
  announce,
);
const work = scoring({ shown, redraw, announce });
const score = () => running.run(page.tab === "compare" ? work.compared : work.scored);
page.sets = comparing({
  changed: redraw,
  score,
  examples: () => page.menu?.compare.examples ?? [],
});
const given = samples({
  current,
  examples: () => page.menu?.kinds[page.tab]?.examples ?? [],
  attach,
  prefer: preferred,
  score,
  turn: (kind) => current().turn(kind),
  example,
});
const prompted = promptField(byId("prompt"), (text) => (current() ?? page.sets).answer(text));
const mark = tabs(byId("tabs"), (tab) => {
  page.chosen = true;
  carry(tab);
  step(() => turnTo(tab));
});

function announce(text) {
  byId("said").textContent = "";
  setTimeout(() => (byId("said").textContent = text), 50); // the same words are said again, too
}

/** What stands where the result will be. */
function empty(tab) {
  const way = tab === "compare" ? TO_COMPARE : TO_SCORE;
  const number = el("p", { class: "empty-number", "aria-hidden": "true" }, "≈ ? of n");
  const means = el("p", { class: "hint" }, MEANS);
  return [el("div", { class: "empty" }, number, el("p", {}, way), means)];
}

/** Of files that could be of several kinds: the one whose tab the visitor chose. */
function preferred() {
  return page.chosen ? page.tab : "";
}

function attach(files, target) {
  if (page.tab === "compare") page.sets.dropped(files, target);
  else current().attach(files, preferred());
}

function turnTo(tab) {
  page.tab = tab;
  mark(tab);
  byId("panel").setAttribute("aria-labelledby", `tab-${tab}`);
  byId("samples").hidden = tab === "compare";
  byId("compare").hidden = tab !== "compare";
  byId("score").firstChild.data = tab === "compare" ? "Compare" : "Score";
  fill(byId("confirm"));
  fill(byId("turned"));
  shown.draw(tab);
  redraw();
}

/** The groups of this tab, side by side on the tab that compares. */
function compareGroups(given) {
  const { kernel, options, q } = page.settings[page.tab];
  Object.assign(page.settings.compare, { kernel, options: { ...options }, q });
  page.drawn = null;
  step(() => turnTo("compare"));
  page.sets.adopt(given, score);
}

/** What cannot be what this tab takes goes with the visitor to another that has nothing yet. */
function carry(tab) {
  const here = current();
  const there = page.givens[tab];
  if (tab === "compare" && here?.read?.groups > 1 && !page.sets.filled().length) {
    page.sets.adopt(here);
  }
  if (!here?.own || !there || there.source !== "" || tab === page.tab) return;
  if (!here.problem && !here.read?.kinds?.includes(tab)) return;
  page.givens[tab] = here;
  page.givens[page.tab] = newGiven(page.tab);
  here.turn(tab);
}

/** Files of another kind than the tab: they go to its tab, and the page with them. */
function turned(given) {
  const from = KINDS.find((kind) => page.givens[kind] === given);
  if (!from) return;
  const { kind, text } = given;
  given.text = page.givens[kind].text;
  page.givens[from] = newGiven(from);
  page.givens[kind] = given;
  if (text) page.givens[from].write(text, true);
  if (page.tab !== from) return;
  turnTo(kind);
  fill(byId("turned"), el("p", { class: "hint" }, `These are ${kind}, so the page turned to their tab.`));
  announce(`${given.read.name} holds ${kind}: the page turned to ${NAMES[kind]}.`);
}

function drawAlike() {
  const { kernels, usual } = kernelsOf(page.tab);
  if (page.drawn === kernels || !page.menu) return;
  page.drawn = kernels;
  const settings = page.settings[page.tab];
  if (!kernels.some(({ kernel }) => kernel === settings.kernel)) settings.kernel = usual;
  alike(byId("kernels"), kernels, settings, page.menu.limits, () => {
    delete page.lent[page.tab];
    drawPrompt();
    shown.age(page.tab);
    writeHash();
  });
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
  if (takeBack(page.tab)) page.drawn = null;
  drawAlike();
  drawPrompt();
  shown.age(page.tab);
  writeHash();
}

/** What was read is told once. */
function changed(subject) {
  redraw();
  const { read } = subject;
  if (subject !== current() || !read || read.key === subject.told) return;
  subject.told = read.key;
  announce(`${read.name}: ${read.said}.`);
}

function example(entry) {
  current().pick(entry.name, entry.prompt);
  if (entry.kernel) lend(page.tab, entry.kernel);
  page.drawn = null;
  redraw();
  score();
}

/** Turns the page to what an address says. */
function follow(link) {
  const settings = page.settings[link.tab];
  Object.assign(settings, { kernel: link.kernel || settings.kernel, q: link.q });
  if (link.kernel) settings.options[link.kernel] = link.options;
  if (link.threshold !== null) page.thresholds[link.tab] = link.threshold;
  if (link.prompt) (page.givens[link.tab] ?? page.sets).prompt = link.prompt;
  page.drawn = null;
  turnTo(link.tab);
}

/** The example that an address names, scored unless its result is here. */
function linked(link) {
  if (!link?.example || shown.isNow(link.tab)) return;
  const { kinds, compare } = page.menu;
  const entries = link.tab === "compare" ? compare.examples : kinds[link.tab].examples;
  const entry = entries.find(({ name }) => name === link.example);
  if (!entry) return;
  const at = link.tab === "compare" ? page.sets : given;
  at.choose({ ...entry, prompt: link.prompt, ...(link.kernel ? { kernel: "" } : {}) });
}

async function loadMenu(link) {
  try {
    page.menu = await get("/page/menu");
  } catch (error) {
    const again = button("Try again", () => (page.loading = loadMenu(link)), "button");
    fill(byId("kernels"), el("div", { class: "trouble", role: "alert" }, error.message, again));
    return;
  }
  byId("limits").textContent = page.menu.limits.sentence;
  redraw();
  linked(link);
}

function start() {
  const record = kept();
  const [{ type }] = performance.getEntriesByType("navigation");
  if (record && (type === "reload" || record.was === location.hash)) {
    history.replaceState(history.state, "", record.hash);
  }
  const link = fromHash(location.hash);
  page.chosen = Boolean(link) && link.tab !== "texts";
  if (record) restore(record, link, shown);
  if (link) follow(link);
  else turnTo(record?.tab ?? page.tab);
  byId("score-key").textContent = scoreKey;
  onPress(byId("score"), score);
  byId("result").addEventListener("compare", () => compareGroups(current()));
  keys({ score, stop: running.end });
  drop(byId("shade"), attach, (text) => (current() ?? page.sets).write(text, true));
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("result").focus();
  });
  addEventListener("pagehide", () => remember(shown));
  addEventListener("popstate", ({ state }) => state?.tab && turnTo(state.tab));
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
