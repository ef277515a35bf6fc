/** The tab that compares: from two to eight named sets of one kind. */

import { makeCard } from "./card.js";
import { el, focused } from "../dom.js";
import { Given } from "./given.js";
import { page } from "./page.js";
import { button, byId, chooser, fill, tries } from "./parts.js";
import { trouble } from "./readout.js";

const LEAST = 2;
const MOST = 8;
const LETTERS = "ABCDEFGH";
const FEW = "A comparison needs at least two sets. Add samples to another set";
const BY = "or select the column with the set names under “Group column”";
const GROUPED =
  "contains groups. Remove the other sets to compare these groups, or select “no groups” under “Group column”.";

/**
 * Makes the sets of a comparison. `changed()` handles every change, `score()` compares; `stamp()`
 * identifies the samples.
 * @param {{changed: () => void, score: () => void, examples: () => Pairing[]}} page
 */
export function comparing({ changed, score, examples }) {
  const self = {
    kind: /** @type {Kind | ""} */ (""),
    cards: /** @type {Card[]} */ ([]),
    example: "",
    prompt: "",
    leaveOut: false,
    problem: /** @type {Problem | null} */ (null),
  };
  let stamped = "[]";

  const filled = () => self.cards.filter(({ given }) => given.source);
  const stamp = () => JSON.stringify(filled().map((card) => [card.name(), card.given.version]));

  function update() {
    if (stamp() !== stamped) {
      stamped = stamp();
      Object.assign(self, { leaveOut: false, problem: null, example: "" });
      if (!filled().length) turnAll("");
    }
    draw();
    changed();
  }

  /**
   * Takes the kind of all sets from the first, or from what the visitor says.
   * @param {Given} given
   */
  function found(given) {
    const { read } = given;
    const { kind } = self;
    if (read && !kind) turnAll(read.kind);
    else if (kind && read?.kind !== kind && read?.kinds.includes(kind)) given.turn(kind);
    update();
  }

  /** @param {Kind} kind */
  function turn(kind) {
    turnAll(kind);
    update();
  }

  /** @param {Kind | ""} kind */
  function turnAll(kind) {
    self.kind = kind;
    for (const { given } of self.cards) {
      if (given.read && kind && given.read.kind !== kind) given.turn(kind);
      else given.kind = kind;
    }
  }

  function add() {
    const given = new Given(self.kind, { changed: found, turned: found, fixed: true });
    const used = new Set(self.cards.map((card) => card.name()));
    const name = [...LETTERS].find((letter) => !used.has(letter)) ?? "";
    const card = makeCard(given, name, { take, remove, turn, score: others, renamed: update });
    self.cards.push(card);
    byId("sets").append(card.node);
    return card;
  }

  /** @param {Card} card */
  function remove(card) {
    self.cards = self.cards.filter((other) => other !== card);
    card.node.remove();
    card.given.clear();
    self.cards[0].focus();
  }

  /**
   * Gives files to a set; without one, each to a set of its own, but photos are one set.
   * @param {File[]} files
   * @param {Card | null} [at]
   */
  function take(files, at = null) {
    const together = at || files.every((file) => file.type.startsWith("image/"));
    for (const part of together ? [files] : files.map((file) => [file])) {
      const free = at ?? self.cards.find(({ given }) => !given.source);
      (free ?? (self.cards.length < MOST ? add() : null))?.attach(part);
    }
  }

  const own = () => (self.example ? [] : filled());

  /**
   * Compares the sets of an example, unless there are some of the visitor's own.
   * @param {Pairing} entry
   */
  function load(entry) {
    if (own().length) return;
    empty();
    self.prompt = entry.prompt ?? "";
    page.settings.compare.arguments = entry.arguments ?? "";
    page.drawn = null;
    turnAll(entry.kind);
    for (const { name, example } of entry.sets) {
      const card = self.cards.find(({ given }) => !given.source) ?? add();
      card.rename(name);
      card.given.pick(example);
    }
    self.example = entry.name;
    update();
    score();
  }

  /**
   * Compares the groups of what another tab has as sets; `options` say how it is read for that.
   * @param {Given} given
   * @param {{options?: Asked, then?: () => void}} [how]
   */
  function adopt(given, { options = {}, then = () => {} } = {}) {
    const go = () => {
      empty();
      turnAll(given.kind);
      self.cards[0].rename(given.read?.name ?? self.cards[0].name());
      self.prompt = given.prompt;
      self.cards[0].given.copy(given, options);
      then();
    };
    const [first, ...more] = own();
    if (!first || (!more.length && first.given.sent() === given.sent())) return go();
    return confirm(byId("sets-confirm"), go);
  }

  function empty() {
    for (const { node, given } of self.cards.splice(0)) {
      node.remove();
      given.clear();
    }
    add();
    add();
    self.prompt = "";
    update();
  }

  function draw() {
    for (const card of self.cards) card.draw(self.cards.length > LEAST);
    byId("clear-sets").hidden = !filled().length;
    byId("add-set").hidden = self.cards.length >= MOST;
    tries(byId("sets-examples"), own().length ? [] : examples(), self.example, load);
    fill(byId("sets-trouble"), self.problem ? trouble(self.problem, others, "Compare") : null);
  }

  function others() {
    Object.assign(self, { leaveOut: true, problem: null });
    for (const { given } of self.cards) given.leaveOut = true;
    byId("score").focus();
    score();
  }

  /** Returns the sets that something was given for, all of them read; null where that cannot be. */
  async function ready() {
    self.problem = null;
    const cards = filled();
    const reads = await Promise.all(cards.map(({ given }) => given.ready()));
    const [first] = reads;
    const grouped = reads.findIndex((read) => read?.groups);
    const other = reads.findIndex((read) => read && read.kind !== self.kind);
    let text = "";
    if (!cards.length || (cards.length < LEAST && first && grouped < 0)) {
      text = (first?.columns.length ?? 0) > 1 ? `${FEW}, ${BY}.` : `${FEW}.`;
    } else if (cards.length > 1 && grouped >= 0) {
      text = `${cards[grouped].name()} ${GROUPED}`;
    }
    if (other >= 0) {
      const kinds = `${cards[other].name()} contains ${reads[other]?.kind}, not ${self.kind}`;
      text = `All sets must have the same type of samples, but ${kinds}. Remove this set or read it as ${self.kind}.`;
    }
    if (text) self.problem = { text };
    for (const { given } of cards) given.leaveOut ||= Boolean(given.read?.problems?.others);
    self.leaveOut ||= cards.some(({ given }) => given.leaveOut);
    draw();
    return text || !reads.every(Boolean) ? null : cards;
  }

  byId("add-set").before(chooser("Choose a file for each set", take));
  byId("add-set").addEventListener("click", () => {
    add().focus();
    draw();
  });
  byId("clear-sets").addEventListener("click", () => {
    empty();
    self.cards[0].focus();
  });

  add();
  add();
  return Object.assign(self, {
    draw,
    /** @returns {SetsSnapshot} */
    snapshot: () => ({
      kind: self.kind,
      example: self.example,
      prompt: self.prompt,
      cards: self.cards.map((card) => [card.name(), card.given.snapshot()]),
    }),
    /** @param {SetsSnapshot} snapshot */
    restore({ kind, example, prompt, cards }) {
      while (self.cards.length < cards.length) add();
      turnAll(kind);
      cards.forEach(([name, given], i) => {
        self.cards[i].rename(name);
        self.cards[i].given.restore(given);
      });
      stamped = stamp();
      Object.assign(self, { example, prompt: prompt ?? "" });
    },
    /** @param {string} prompt */
    answer(prompt) {
      self.prompt = prompt;
      changed();
    },
    ready,
    stamp,
    filled,
    load,
    adopt,
    /**
     * @param {File[]} files
     * @param {EventTarget | null} at
     */
    dropped: (files, at) => take(files, self.cards.find(({ node }) => node.contains(/** @type {Node | null} */ (at)))),
    /** @param {string} text */
    write(text) {
      const card = self.cards.find(({ given }) => !given.source);
      (card ?? add()).given.write(text, true);
    },
  });
}

/**
 * @param {HTMLElement} container
 * @param {() => void} go
 */
function confirm(container, go) {
  const back = focused();
  /** @param {() => void} then */
  const done = (then) => () => {
    fill(container);
    back?.focus();
    then();
  };
  const ask = el("p", { id: "replace" }, "Replace your sets?");
  const yes = button("Replace", done(go), "button");
  const no = button("Keep", done(() => {}), "button");
  const question = { class: "question row", role: "group", "aria-labelledby": ask.id };
  fill(container, el("div", question, ask, yes, no));
  yes.focus();
}
