/** What a visitor gives, and what the server reads in it: read at once, so that it can be seen. */

import { send } from "./calls.js";

const PAUSE = 600; // ms after the last key
const LARGE = 200_000; // characters, more of which make a box slow
const PASTED = "pasted.txt";
const LOST = "is no longer here after the reload: choose or paste it again.";
const NOTHING = "There is nothing to score yet: paste or drop some samples, or pick an example.";

let versions = 0; // of all samples of this visit: no two are the same

/** Whether a text is too large for a box. */
export const isLarge = (text) => text.length > LARGE;

export class Given {
  #timer = 0;
  #reading = Promise.resolve();
  #abort = null;

  /**
   * `changed(given)` after every change; `turned(given)` where files are of another kind than
   * they were thought to be; `fixed` where files are to be read as of this kind, if there is one.
   */
  constructor(kind, { changed, turned, fixed = false }) {
    this.kind = kind;
    Object.assign(this, { changed, turned, fixed });
    this.#empty();
  }

  #empty() {
    Object.assign(this, { source: "", text: "", files: [], names: [], dataset: "", example: "" });
    this.pasted = false;
    this.prompt = "";
    this.#anew();
    this.before = null;
    this.asked = {};
  }

  /** The data changed: what was read of the old is nothing any more. */
  #anew() {
    this.version = versions += 1;
    this.before = this.read ?? this.before; // stays in sight until it is read anew
    this.read = null;
    this.question = null;
    this.problem = null;
    this.leaveOut = false;
    this.busy = false;
  }

  /** Whether it is the visitor's own, which no example overwrites unasked. */
  get own() {
    return this.source !== "" && this.source !== "example";
  }

  clear() {
    this.#cancel();
    this.#empty();
    this.changed(this);
  }

  write(text, atOnce) {
    if (atOnce && isLarge(text)) return this.#asFile(text);
    if (this.source !== "text" || !this.#fits(text)) this.asked = {};
    this.#anew();
    Object.assign(this, { text, source: text.trim() ? "text" : "", example: "" });
    this.#later(atOnce ? 0 : PAUSE);
  }

  /** Whether what was asked of the text before can be meant of this one, too. */
  #fits(text) {
    const { separator } = this.asked;
    const between = separator === "blank" ? /\n\s*\n/ : /\n/;
    if (["line", "blank"].includes(separator)) return between.test(text);
    return !separator || text.includes(separator);
  }

  /** Files take the place of the text, which comes back when they are taken away. */
  attach(files, prefer = "") {
    const names = files.map((file) => file.name);
    const text = this.source === "example" ? "" : this.text;
    this.#take({ source: "files", files, names, prefer, text });
  }

  /** What is pasted and too large for a box is a file of that text, read as pasted. */
  #asFile(text) {
    const files = [new File([text], PASTED, { type: "text/plain" })];
    const asked = this.kind ? { kind: this.kind } : {};
    this.#take({ source: "files", files, names: [PASTED], prefer: "", text: "", pasted: true }, asked);
  }

  /** The prompt of all samples: it is read with the score, not with them. */
  answer(prompt) {
    this.prompt = prompt;
    this.changed(this);
  }

  detach() {
    this.#take({ source: this.text.trim() ? "text" : "", files: [], names: [], dataset: "" });
  }

  fetchDataset(dataset, prefer = "") {
    const text = this.source === "example" ? "" : this.text;
    this.#take({ source: "dataset", dataset, files: [], prefer, text });
  }

  pick(example, prompt = "") {
    this.prompt = prompt;
    this.#take({ source: "example", example, files: [], dataset: "", text: "" });
  }

  #take(given, asked = {}) {
    this.asked = asked;
    this.example = "";
    this.pasted = false;
    this.#anew();
    this.before = null;
    Object.assign(this, given);
    this.#later(0);
  }

  /** The same samples, read in another way. */
  ask(change) {
    Object.assign(this.asked, change);
    this.#anew();
    this.#later(0);
  }

  /** The same samples as another kind. */
  turn(kind) {
    this.kind = kind;
    this.ask({ kind });
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#abort?.abort();
  }

  #later(pause) {
    this.#cancel();
    this.busy = this.source !== "";
    if (pause && this.busy) this.#timer = setTimeout(() => this.#start(), pause);
    else this.#start();
    this.changed(this);
  }

  #start() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#reading = this.source ? this.#ask() : Promise.resolve();
  }

  async #ask() {
    const abort = new AbortController();
    this.#abort = abort;
    this.busy = true;
    let answer;
    try {
      if (this.source === "files" && !this.files.length) throw lost(this.names);
      const text = this.source === "text" ? this.text : "";
      answer = await send("/page/read", this.#options(), text, this.files, abort);
    } catch (error) {
      if (abort.signal.aborted) return;
      answer = { problem: error.problem ?? { text: String(error.message ?? error) } };
    }
    if (abort.signal.aborted) return;
    if (this.prefer && answer.kinds?.includes(this.prefer) && answer.kind !== this.prefer) {
      const kind = this.prefer;
      this.prefer = "";
      return this.turn(kind);
    }
    this.#takeIn(answer);
  }

  #takeIn(answer) {
    this.busy = false;
    this.before = null;
    this.problem = answer.problem ?? null;
    this.question = answer.question ?? null;
    this.read = answer.key ? answer : null;
    if (this.source === "example" && answer.text) this.text = answer.text;
    const { kind } = answer;
    const other = this.read && kind !== this.kind;
    if (other) this.kind = kind;
    if (other) this.turned(this);
    else this.changed(this);
  }

  #options() {
    const options = { ...this.asked };
    const found = this.source === "files" || this.source === "dataset";
    if ((this.fixed || !found) && this.kind) options.kind ??= this.kind;
    if (this.source === "example") options.example = this.example;
    if (this.source === "dataset") options.dataset ??= this.dataset;
    return options;
  }

  /** What was read, when it has been; null where there is a question or a problem instead. */
  async ready() {
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

  /** What of it outlives a reload: files do not, but what was read of them does. */
  snapshot() {
    const { kind, source, text, names, pasted, dataset, example, asked, read, leaveOut } = this;
    const { prompt } = this;
    return { kind, source, text, names, pasted, dataset, example, asked, read, leaveOut, prompt };
  }

  /** The same as another has, as it was read there, or anew with other options. */
  copy(other, options = {}) {
    this.restore({ ...other.snapshot(), files: other.files, asked: { ...other.asked } });
    if (!this.isReadBy(options)) this.ask(options);
    else this.changed(this);
  }

  /** Whether it is read in this way already. */
  isReadBy(options) {
    return Object.entries(options).every(([name, value]) => (this.asked[name] ?? null) === value);
  }

  restore(snapshot) {
    Object.assign(this, snapshot);
    if (this.source && !this.read) this.#later(0);
  }
}

function lost(names) {
  const [first, ...more] = names;
  const others = more.length ? ` (and ${more.length} more)` : "";
  return { problem: { text: `${first}${others} ${LOST}` } };
}
