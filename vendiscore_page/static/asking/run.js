/** Work under way: one at a time, how far it is, and a way to stop it. */

import { follow } from "./calls.js";

const STOPPED = "Stopped.";
const EVERY = 5000; // ms between two announcements of how far it is

/**
 * Runs work and shows how far it is; `announce(text)` speaks, `waits(is)` hears whether work is under way.
 * @param {{go: HTMLButtonElement, stop: HTMLButtonElement, progress: HTMLElement}} parts
 * @param {Announce} announce
 * @param {(is: boolean) => void} waits
 */
export function runner({ go, stop, progress }, announce, waits) {
  /** @type {AbortController | null} */
  let now = null;

  /** @param {boolean} running */
  function show(running) {
    if (!running && document.activeElement === stop) go.focus();
    stop.hidden = !running;
    progress.hidden = !running;
    progress.classList.remove("still");
    say("");
    waits(running);
  }

  /** @param {string} text */
  function say(text) {
    const words = progress.querySelector("span");
    if (words) words.textContent = text;
  }

  /** @param {(tools: Tools) => Promise<void>} work */
  async function run(work) {
    now?.abort();
    const mine = new AbortController();
    now = mine;
    show(true);
    let spoken = Date.now();
    /** @param {string} text */
    const said = (text) => {
      if (now !== mine) return;
      say(text);
      if (Date.now() - spoken < EVERY) return;
      spoken = Date.now();
      announce(text);
    };
    try {
      await work({ signal: mine.signal, said });
    } catch (error) {
      if (!mine.signal.aborted) throw error;
    } finally {
      if (now === mine) done();
    }
  }

  function done() {
    now = null;
    show(false);
  }

  function end() {
    if (!now) return;
    now.abort();
    done();
    say(STOPPED);
    progress.classList.add("still");
    progress.hidden = false;
    announce(STOPPED);
  }
  stop.addEventListener("click", end);
  return { run, end };
}

/**
 * Returns the result of work on samples on the server; expired samples are sent `again()`, once,
 * and `body()` then has their new keys.
 * @param {string} path
 * @param {() => object} body
 * @param {() => Promise<unknown>} again
 * @param {Tools} tools
 */
export async function worked(path, body, again, tools) {
  try {
    return await follow(path, body(), tools);
  } catch (error) {
    if (!(/** @type {Failure} */ (error).gone)) throw error;
  }
  tools.said("Sending the samples again");
  if (!(await again())) return null;
  tools.signal.throwIfAborted();
  return follow(path, body(), tools);
}
