/** Scales of charts: where a value stands, and the round numbers that are marked. */

const SLACK = 1e-9; // of a step: what rounding may take away
const ROUND = [1, 2, 5, 10];

/**
 * Returns the least of 1, 2 and 5 × 10^k of which at most `most` fit between two numbers.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function stepOf(low, high, most) {
  const least = (high - low) / most;
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return rounded((ROUND.find((times) => times * power >= least * (1 - SLACK)) ?? 10) * power);
}

/**
 * Returns the multiples of a round step from `low` to `high`, with at most `most` steps between.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 * @param {number} [least]
 */
export function ticks(low, high, most, least = 0) {
  const step = Math.max(stepOf(low, high, most), least);
  const first = Math.ceil(low / step - SLACK);
  const last = Math.floor(high / step + SLACK);
  return Array.from({ length: last - first + 1 }, (_, i) => rounded((first + i) * step));
}

/**
 * Returns the place of a value, such that `from` stands at `start`, and `to` at `end`.
 * @param {number} from
 * @param {number} to
 * @param {number} start
 * @param {number} end
 * @returns {(value: number) => number}
 */
export function scale(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((end - start) * (value - from)) / span;
}

/**
 * Returns how many decimal places numbers need that are a step apart.
 * @param {number} step
 */
export function decimals(step) {
  return Math.max(0, -Math.floor(Math.log10(step) + SLACK));
}

/**
 * Takes away what binary fractions add: 0.30000000000000004 is 0.3.
 * @param {number} value
 */
function rounded(value) {
  return Number(value.toPrecision(12)) + 0;
}
