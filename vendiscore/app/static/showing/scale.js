/** Scales of charts: where a value stands, and the round numbers that are marked. */

const SLACK = 1e-9; // of a step: what rounding may take away
const ROUND = [1, 2, 5, 10];

/** The least of 1, 2 and 5 × 10^k of which at most `most` fit between two numbers. */
export function stepOf(low, high, most) {
  const least = (high - low) / most;
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return rounded(ROUND.find((times) => times * power >= least * (1 - SLACK)) * power);
}

/** The multiples of a round step from `low` to `high`, with at most `most` steps between. */
export function ticks(low, high, most, least = 0) {
  const step = Math.max(stepOf(low, high, most), least);
  const first = Math.ceil(low / step - SLACK);
  const last = Math.floor(high / step + SLACK);
  return Array.from({ length: last - first + 1 }, (_, i) => rounded((first + i) * step));
}

/** The place of a value, such that `from` stands at `start`, and `to` at `end`. */
export function scale(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((end - start) * (value - from)) / span;
}

/** How many decimals numbers need that are a step apart. */
export function decimals(step) {
  return Math.max(0, -Math.floor(Math.log10(step) + SLACK));
}

/** Without what binary fractions add: 0.30000000000000004 is 0.3. */
function rounded(value) {
  return Number(value.toPrecision(12)) + 0;
}
