/** The known sets that a score lies between, as marks on the bar. */

import { score } from "../dom.js";

const APART = 0.03; // of the bar

/**
 * Chooses known sets near the score that stand apart on the bar, in ascending order.
 * @param {Pick<Result, "scale" | "VS" | "of">} result
 * @param {number} [most]
 */
export function rungs({ scale, VS, of }, most = 5) {
  /** @type {Result["scale"]} */
  const kept = [];
  const near = scale.slice(0, -1).sort(([, a], [, b]) => Math.abs(a - VS) - Math.abs(b - VS));
  for (const rung of near) {
    const apart = kept.every(([, x]) => Math.abs(x - rung[1]) >= APART * of);
    if (apart && kept.length < most) kept.push(rung);
  }
  return kept.sort(([, a], [, b]) => a - b);
}

/**
 * Names the marks from the left to the right.
 * @param {Pick<Result, "scale" | "VS" | "of">} result
 * @param {number} [most]
 */
export function named(result, most) {
  const names = rungs(result, most).map(([name, value]) => `${name} ${score(value)}`);
  return names.length ? `Marks on the bar: ${names.join(" · ")}` : "";
}
