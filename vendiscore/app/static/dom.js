/** Elements and words. What a visitor wrote goes in as text, never as markup. */

/** An element with attributes (`on…`: listeners; null and false are left out) and children. */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An element of an SVG. */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
}

/** Children without those that are not there: null, undefined, false and "". */
function present(children) {
  return children.flat().filter((child) => child || child === 0).map(
    (child) => (child instanceof Node ? child : String(child)),
  );
}

let used = 0;

/** An id that nothing else on the page has. */
export function newId(name) {
  used += 1;
  return `r-${name}-${used}`;
}

/** A number with thousands apart: 1,000. */
export function count(n) {
  return Number(n).toLocaleString("en-US");
}

/** A Vendi Score: one decimal, as in the sentences. */
export function score(value) {
  return Number(value).toLocaleString(
    "en-US",
    { minimumFractionDigits: 1, maximumFractionDigits: 1 },
  );
}

/** Of how many a score is: all, or those of a group on average. */
export function whole({ of, n, by_group: groups }) {
  if (!groups) return count(n);
  return `${Number.isInteger(of) ? count(of) : score(of)} in a group`;
}

/** Words that are there, with a dot between each two. */
export function dotted(...words) {
  return words.filter(Boolean).join(" · ");
}

/** What a score is of, and how it was compared. */
export function about({ name, comparison }) {
  return dotted(name, comparison);
}

/** A standard error; "" where there is none. */
export function error(se) {
  if (!(se > 1e-6)) return "";
  return se >= 0.095 ? score(se) : Number(se).toPrecision(1);
}

/** A similarity: two decimals, with a true minus. */
export function alike(value) {
  return signed(Number(value).toFixed(2));
}

/** What a number says, with a true minus. */
export function signed(text) {
  return String(text).replace(/^-(?=0(\.0+)?$)/, "").replace("-", "−");
}

/** "1 sample", "2 samples". */
export function some(n, one) {
  return `${count(n)} ${one}${n === 1 ? "" : "s"}`;
}

/** A text on one line, cut at a length, but in no sign that takes two of JavaScript's, with "…". */
export function cut(text, longest) {
  const line = [...String(text).replace(/\s+/g, " ").trim()];
  if (line.length <= longest) return line.join("");
  return `${line.slice(0, longest).join("").trimEnd()}…`;
}

/** Calls `run` once, `wait` ms after the last call. */
export function later(run, wait) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...given), wait);
  };
}

/** Brings the top of an element into sight. */
export function reveal(node) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  node.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
}

/** What to say when the server did not answer as hoped: `gone`, a `problem`, or neither. */
export function trouble(failure) {
  if (failure.gone) return "This result is no longer kept on the server. Score again to see this.";
  return failure.problem?.text ?? "The server did not answer. Try again in a moment.";
}
