/** Samples that a visitor gives: the server reads them at once, so that one sees how. */

import { send } from "./calls.js";

const PAUSE = 600; // ms after the last key
const LARGE = 200_000; // characters, more of which make a box slow
const PASTED = "pasted.txt";
const LOST = "could not be kept when the page was reloaded. Choose or paste it again.";
const NOTHING = "There are no samples yet. Paste or drop samples, or choose an example.";

let versions = 0; // of all samples of this visit: no two are the same

/**
 * Tells whether a text is too large for a box.
 * @param {string} text
 */
export const isLarge = (text) => text.length > LARGE;

/**
 * Samples of one tab or set. Read are the `text`, the `files` (by their `names`), a `dataset` of
 * the Hub or an `example`: `source` says which of them.
 */
export class Given {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Promise<void>} */
  #reading = Promise.resolve();
  /** @type {AbortController | null} */
  #abort = null;
  /** @type {"" | "text" | "files" | "dataset" | "example"} */
  source = "";
  text = "";
  /** @type {File[]} */
  files = [];
  /** @type {string[]} */
  names = [];
  dataset = "";
  example = "";
  pasted = false;
  prompt = "";
  /** @type {Asked} */
  asked = {};
  /** @type {Kind | ""} the kind that files are read as, if they can be */
  prefer = "";
  version = (versions += 1);
  /** @type {Read | null} */
  read = null;
  /** @type {Read | null} stays in sight until the samples are read anew */
  before = null;
  /** @type {Question | null} */
  question = null;
  /** @type {Problem | null} */
  problem = null;
  leaveOut = false;
  busy = false;
  told = ""; // the key of what was announced
  advised = ""; // the key of what a kernel was lent for

  /**
   * `changed(given)` is called after every change; `turned(given)` where files are of another kind
   * than they were thought to be; `fixed` where files are to be read as of this kind, if any.
   * @param {Kind | ""} kind
   * @param {{changed: (given: Given) => void, turned: (given: Given) => void, fixed?: boolean}} how
   */
  constructor(kind, { changed, turned, fixed = false }) {
    this.kind = kind;
    this.changed = changed;
    this.turned = turned;
    this.fixed = fixed;
  }

  /** Forgets what was read: the data has changed. */
  #anew() {
    const before = this.read ?? this.before;
    const nothing = { read: null, question: null, problem: null, leaveOut: false, busy: false };
    Object.assign(this, { ...nothing, before, version: (versions += 1) });
  }

  /** The visitor's own samples, which no example overwrites unasked. */
  get own() {
    return this.source !== "" && this.source !== "example";
  }

  clear() {
    this.#take({ source: "", text: "", files: [], names: [], dataset: "", prompt: "" });
  }

  /**
   * @param {string} text
   * @param {boolean} [atOnce]
   */
  write(text, atOnce) {
    if (atOnce && isLarge(text)) return this.#asFile(text);
    if (atOnce || this.source !== "text") this.asked = {}; // what is typed is read as before
    this.#anew();
    Object.assign(this, { text, source: text.trim() ? "text" : "", example: "" });
    this.#later(atOnce ? 0 : PAUSE);
  }

  /**
   * Puts files in the place of the text, which comes back when they are taken away.
   * @param {File[]} files
   * @param {Kind | ""} [prefer]
   */
  attach(files, prefer = "") {
    const names = files.map((file) => file.name);
    this.#take({ source: "files", files, names, prefer, text: this.#typed });
  }

  /** The text of the box, unless it is that of an example. */
  get #typed() {
    return this.source === "example" ? "" : this.text;
  }

  /**
   * Makes a file of a pasted text that is too large for a box; it is read as pasted.
   * @param {string} text
   */
  #asFile(text) {
    const files = [new File([text], PASTED, { type: "text/plain" })];
    const asked = this.kind ? { kind: this.kind } : {};
    this.#take({ source: "files", files, names: [PASTED], prefer: "", text: "", pasted: true, asked });
  }

  /**
   * Sets the prompt of all samples, which is sent with the score.
   * @param {string} prompt
   */
  answer(prompt) {
    this.prompt = prompt;
    this.changed(this);
  }

  detach() {
    this.#take({ source: this.text.trim() ? "text" : "", files: [], names: [], dataset: "" });
  }

  /**
   * @param {string} dataset
   * @param {Kind | ""} [prefer]
   */
  fetchDataset(dataset, prefer = "") {
    this.#take({ source: "dataset", dataset, files: [], prefer, text: this.#typed });
  }

  /**
   * @param {string} example
   * @param {string} [prompt]
   */
  pick(example, prompt = "") {
    this.#take({ source: "example", example, prompt, files: [], dataset: "", text: "" });
  }

  /** @param {Partial<Given>} given */
  #take(given) {
    this.#anew();
    Object.assign(this, { asked: {}, example: "", pasted: false, before: null, ...given });
    this.#later(0);
  }

  /**
   * Reads the same samples in another way.
   * @param {Asked} change
   */
  ask(change) {
    Object.assign(this.asked, change);
    this.#anew();
    this.#later(0);
  }

  /**
   * Reads the same samples as another kind.
   * @param {Kind} kind
   */
  turn(kind) {
    this.kind = kind;
    this.ask({ kind });
  }

  /** @param {number} pause ms */
  #later(pause) {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#abort?.abort();
    this.busy = this.source !== "";
    if (pause && this.busy) this.#timer = setTimeout(() => this.#start(), pause);
    else this.#start();
    this.changed(this);
  }

  #start() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#reading = this.source ? this.#ask() : Promise.resolve();
  }

  async #ask() {
    const abort = new AbortController();
    this.#abort = abort;
    this.busy = true;
    /** @type {ReadAnswer} */
    let answer;
    try {
      if (this.source === "files" && !this.files.length) throw lost(this.names);
      const text = this.source === "text" ? this.text : "";
      answer = await send("/page/read", this.#options(), text, this.files, abort);
    } catch (error) {
      if (abort.signal.aborted) return;
      const { problem, message } = /** @type {Failure} */ (error);
      answer = { problem: problem ?? { text: String(message ?? error) } };
    }
    if (abort.signal.aborted) return;
    if (this.prefer && answer.kinds?.includes(this.prefer) && answer.kind !== this.prefer) {
      const kind = this.prefer;
      this.prefer = "";
      return this.turn(kind);
    }
    this.#takeIn(answer);
  }

  /** @param {ReadAnswer} answer */
  #takeIn(answer) {
    this.busy = false;
    this.before = null;
    this.problem = answer.problem ?? null;
    this.question = answer.question ?? null;
    this.read = answer.key ? /** @type {Read} */ (answer) : null;
    if (this.source === "example" && answer.text) this.text = answer.text;
    if (!this.read || this.read.kind === this.kind) return this.changed(this);
    this.kind = this.read.kind;
    return this.turned(this);
  }

  #options() {
    const { source, kind, example, dataset } = this;
    const found = source === "files" || source === "dataset";
    return {
      ...((this.fixed || !found) && kind ? { kind } : {}),
      ...(source === "dataset" ? { dataset } : {}),
      ...this.asked,
      ...(source === "example" ? { example } : {}),
    };
  }

  /** Returns what was read, once it has been; null where a question or a problem came of it. */
  async ready() {
    if (this.source === "dataset" && this.problem && this.text.trim()) this.detach();
    if (this.source === "") this.problem = { text: NOTHING };
    if (this.#timer) this.#start();
    let reading;
    do {
      reading = this.#reading;
      await reading;
    } while (reading !== this.#reading);
    return this.read;
  }

  /** Sends the samples again, whose key the server no longer keeps. */
  async again() {
    const { leaveOut, version } = this;
    this.#start();
    const read = await this.ready();
    Object.assign(this, { leaveOut, version });
    return read;
  }

  /** Returns what tells these samples from others, however they are read. */
  sent() {
    const { source, text, dataset, example, files } = this;
    const stamps = files.map(({ name, size, lastModified }) => [name, size, lastModified]);
    return JSON.stringify([source, text, dataset, example, stamps]);
  }

  /** Returns what outlives a reload: files do not, but what was read of them does. */
  snapshot() {
    const { kind, source, text, names, pasted, dataset, example, asked, read, advised, leaveOut, prompt } = this;
    return { kind, source, text, names, pasted, dataset, example, asked, read, advised, leaveOut, prompt };
  }

  /**
   * Takes what another has, as it was read there, or anew with other options.
   * @param {Given} other
   * @param {Asked} [options]
   */
  copy(other, options = {}) {
    this.restore({ ...other.snapshot(), files: other.files, asked: { ...other.asked } });
    if (!this.isReadBy(options)) this.ask(options);
    else this.changed(this);
  }

  /**
   * Tells whether it is read in this way already.
   * @param {Asked} options
   */
  isReadBy(options) {
    const names = /** @type {(keyof Asked)[]} */ (Object.keys(options));
    return names.every((name) => (this.asked[name] ?? null) === options[name]);
  }

  /** @param {Partial<Given>} snapshot */
  restore(snapshot) {
    Object.assign(this, snapshot);
    if (this.source && !this.read) this.#later(0);
  }
}

/** @param {string[]} names */
function lost(names) {
  const [first, ...more] = names;
  const others = more.length ? ` (and ${more.length} more)` : "";
  return { problem: { text: `${first}${others} ${LOST}` } };
}
