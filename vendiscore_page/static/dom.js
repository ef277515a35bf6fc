/** Elements and words. What a visitor wrote goes in as text, never as markup. */

/**
 * Makes an element with attributes (`on…`: listeners; null and false are left out) and children.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes<HTMLElementTagNameMap[Tag]>} [attributes]
 * @param {...Child} children
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Makes an element of an SVG.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} Of
 * @param {Of} node
 * @param {Record<string, unknown>} attributes
 * @param {Child[]} children
 */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...present(children));
  return node;
}

/**
 * Leaves out children that are not there: null, undefined, false and "".
 * @param {Child[]} children
 */
function present(children) {
  return children.flat(9).filter((child) => child || child === 0).map(
    (child) => (child instanceof Node ? child : String(child)),
  );
}

/**
 * Returns the element of HTML that has the focus.
 * @returns {HTMLElement | null}
 */
export function focused() {
  return document.activeElement instanceof HTMLElement ? document.activeElement : null;
}

/**
 * Returns the first element of HTML that a selector finds.
 * @param {Element} container
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function find(container, selector) {
  return container.querySelector(selector);
}

let used = 0;

/**
 * Returns an id that nothing else on the page has.
 * @param {string} name
 */
export function newId(name) {
  used += 1;
  return `r-${name}-${used}`;
}

/**
 * Writes a number with commas between thousands: 1,000.
 * @param {number | string} n
 */
export function count(n) {
  return Number(n).toLocaleString("en-US");
}

/**
 * Writes a Vendi Score with one decimal place, as the sentences do.
 * @param {number} value
 */
export function score(value) {
  return Number(value).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/**
 * Returns the key of the Vendi Score: VS, or at another order than 1 VS_q2 and so on.
 * @param {object} record
 * @returns {`VS${string}`}
 */
export function scoreKey(record) {
  const key = Object.keys(record).find((name) => /^VS(_q[^_]+)?$/.test(name));
  return /** @type {`VS${string}`} */ (key ?? "VS");
}

/**
 * Returns the Vendi Score of what the server answers, whatever its order.
 * @param {Scored} record
 */
export const vendi = (record) => record[scoreKey(record)];

/**
 * Writes a number of samples, which may be a mean: 1,000 or 2.5.
 * @param {number} n
 */
export const total = (n) => (Number.isInteger(n) ? count(n) : score(n));

/**
 * Writes how many samples a score is of: all, or those of a group on average.
 * @param {Pick<Result, "of" | "n" | "by_group">} result
 */
export function whole({ of, n, by_group: groups }) {
  return groups ? `${total(of)} per group` : count(n);
}

/**
 * Joins the words that are there by dots.
 * @param {...(string | null | undefined)} words
 */
export function dotted(...words) {
  return words.filter(Boolean).join(" · ");
}

/**
 * Names the samples of a score and how they were compared.
 * @param {{name?: string, comparison: string}} result
 */
export function about({ name, comparison }) {
  return dotted(name, comparison);
}

/** @param {number | null | undefined} se */
export function error(se) {
  if (!se || !(se > 1e-6)) return "";
  return se >= 0.095 ? score(se) : Number(se).toPrecision(1);
}

/**
 * Writes a similarity with two decimal places and a true minus.
 * @param {number | null | undefined} value
 */
export function alike(value) {
  return signed(Number(value).toFixed(2));
}

/**
 * Writes a number with a true minus, and a zero without one.
 * @param {string | number} text
 */
export function signed(text) {
  return String(text).replace(/^-(?=0(\.0+)?$)/, "").replace("-", "−");
}

/**
 * Tells a finite number from whatever else stands in its place.
 * @param {unknown} value
 * @returns {value is number}
 */
export function isNumber(value) {
  return Number.isFinite(value);
}

/**
 * Counts things: "1 sample", "2 samples".
 * @param {number} n
 * @param {string} one
 */
export function some(n, one) {
  return `${count(n)} ${one}${n === 1 ? "" : "s"}`;
}

/**
 * Puts a text on one line, cut with "…" at a length but inside no character.
 * @param {string} text
 * @param {number} longest
 */
export function cut(text, longest) {
  const line = [...String(text).replace(/\s+/g, " ").trim()];
  if (line.length <= longest) return line.join("");
  return `${line.slice(0, longest).join("").trimEnd()}…`;
}

/**
 * Delays `run`: it is called once, `wait` ms after the last call.
 * @template {unknown[]} Given
 * @param {(...given: Given) => void} run
 * @param {number} wait
 * @returns {(...given: Given) => void}
 */
export function later(run, wait) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

/**
 * Brings the top of an element into sight.
 * @param {Element} node
 */
export function reveal(node) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  node.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

/**
 * Says why the server did not answer as hoped: `gone`, a `problem`, or neither.
 * @param {any} failure
 */
export function trouble(failure) {
  if (failure.gone) return "This result is no longer stored on the server. Score again to see it.";
  return failure.problem?.text ?? "The server did not respond. Try again in a moment.";
}
