/** Prompt × model as a table of colours, and answers to prompts. */

import { text } from "./axes.js";
import { count, cut, el, isNumber, score, scoreKey, shape, some } from "../dom.js";
import { saver } from "./pictures.js";
import { inFull } from "./sample.js";
import { csv, save } from "./saves.js";
import { named } from "./view.js";

const FIRST = 12; // prompts that are seen at first
const LONG = 160; // characters of an answer there
const SHOWN = 5; // answers of two prompts that are open
const LONGEST = 90; // characters of a prompt in its row
// viridis: for eyes that see few colours, too, it grows lighter evenly.
const COLOURS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const [HEAD, CELL, LINE] = [220, 90, 24]; // sizes in a picture

/**
 * Makes the section of the matrix; null where there are no prompts. `first` rows are seen at first.
 * @param {View<Compared>} view
 * @param {number} [first]
 */
export function matrix(view, first = FIRST) {
  const M = view.R.matrix;
  if (!M) return null;
  const most = Math.max(...M.n.flat());
  const body = el("tbody");
  const rest = el("button", { type: "button", class: "r-button r-more" });
  let [by, down, all] = [-1, true, M.prompts.length <= first];
  const heads = M.models.map((model, j) => el("th", { scope: "col" }, el(
    "button",
    { type: "button", onclick: () => sortBy(j) },
    el("bdi", {}, model),
  )));
  /** @param {number} j */
  const sortBy = (j) => {
    [by, down] = [j, by !== j || !down];
    draw();
  };
  const draw = () => {
    heads.forEach((head, j) => {
      if (j === by) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const order = sorted(M, by, down);
    body.replaceChildren(...order.slice(0, all ? order.length : first).map((i) => row(view, i, most)));
    rest.textContent = `show all ${some(order.length, "prompt")}`;
    rest.hidden = all;
  };
  rest.addEventListener("click", () => {
    all = true;
    draw();
    body.rows[first].querySelector("button")?.focus();
  });
  draw();
  const table = el("table", { class: "r-table r-matrix" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "prompt"), ...heads)),
    body,
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "mean"), ...view.R.rows.map(mean))));
  const legend = el("span", { class: "r-key" }, "1", el("i", { class: "r-ramp" }), `${most}: effective number of answers`);
  const items = /** @type {MenuItem[]} */ ([
    ["CSV", () => save(csv(rows(M)), "vendiscore-matrix.csv", "text/csv")],
    ["Markdown", () => save(markdown(view.R), "vendiscore-matrix.md", "text/markdown")],
    ["LaTeX", () => save(latex(view.R), "vendiscore-matrix.tex", "application/x-tex")],
  ]);
  return el("section", {},
    el("div", { class: "r-head" }, el("h3", {}, "Prompt × model"), legend,
      saver(view, `Effective number of answers per prompt (maximum ${most})`, () => drawn(view.R, most), items)),
    el("div", { class: "r-across-scroll", tabindex: 0, role: "region", "aria-label": "Prompt × model" }, table),
    rest);
}

/**
 * Shows answers of the most and the least diverse model to the prompts where their scores differ
 * most and least; null with fewer than two models or prompts.
 * @param {View<Compared>} view
 */
export function contrast(view) {
  const M = view.R.matrix;
  const last = (M?.models.length ?? 0) - 1;
  if (!M || last < 1) return null;
  const gaps = scoresOf(M).map((cells) => Number(cells[0] ?? NaN) - Number(cells[last] ?? NaN));
  const order = [...gaps.keys()].filter((i) => isNumber(gaps[i])).sort((i, j) => gaps[j] - gaps[i]);
  if (order.length < 2) return null;
  return el("section", {},
    el("div", { class: "r-head" }, el("h3", {}, "Answers to two prompts"),
      el("span", { class: "r-small" }, "repeated answers are ", el("s", {}, "struck through"))),
    ...[order[0], order[order.length - 1]].map((i) => el("details", { class: "r-details", open: true },
      el("summary", { dir: "auto" }, cut(M.prompts[i], LONGEST)),
      el("div", { class: "r-halves" }, ...[0, last].map((j) => answers(view, i, j, SHOWN))))));
}

/**
 * Returns the numbers of prompts as they are sorted: by a model, or for -1 by their mean.
 * @param {Matrix} matrix
 * @param {number} by
 * @param {boolean} down
 */
function sorted(matrix, by, down) {
  const values = scoresOf(matrix).map((cells) => (by < 0 ? average(cells) : cells[by] ?? 0));
  return values.map((_, i) => i).sort((i, j) => (down ? values[j] - values[i] : values[i] - values[j]));
}

/** @param {Matrix} matrix */
const scoresOf = (matrix) => matrix[scoreKey(matrix)];

/** @param {(number | null)[]} cells */
function average(cells) {
  const known = cells.filter(isNumber);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/**
 * @param {View<Compared>} view
 * @param {number} i
 * @param {number} most
 */
function row(view, i, most) {
  const M = /** @type {Matrix} */ (view.R.matrix);
  const prompt = el("span", { title: M.prompts[i], dir: "auto" }, cut(M.prompts[i], LONGEST));
  const line = el("tr", {}, el("th", { scope: "row" }, prompt));
  /** @type {HTMLElement | null} */
  let beneath = null;
  scoresOf(M)[i].forEach((value, j) => {
    if (!isNumber(value)) return line.append(el("td", {}, "–"));
    const [fill, ink] = colours(value, most);
    const button = el("button", { type: "button", "aria-expanded": "false" }, score(value));
    if (M.n[i][j] !== most) button.append(el("small", {}, ` of ${count(M.n[i][j])}`));
    button.style.background = fill;
    button.style.color = ink;
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      for (const other of line.querySelectorAll("button")) other.setAttribute("aria-expanded", "false");
      beneath?.remove();
      if (open) return;
      beneath = el("tr", { class: "r-beneath" }, el("td", { colspan: M.models.length + 1 }, answers(view, i, j)));
      line.after(beneath);
      button.setAttribute("aria-expanded", "true");
    });
    return line.append(el("td", {}, button));
  });
  return line;
}

/**
 * Lists the answers of a model to a prompt, at most so many; those that repeat another are struck
 * through.
 * @param {View<Compared>} view
 * @param {number} i
 * @param {number} j
 * @param {number} [most]
 */
function answers(view, i, j, most = Infinity) {
  const M = /** @type {Matrix} */ (view.R.matrix);
  const { set, group = [], repeats, text, image, name } = view.R.map;
  const own = [...set.keys()].filter((at) => set[at] === M.models[j] && group[at] === M.prompts[i]);
  const value = scoresOf(M)[i][j];
  const number = isNumber(value) ? score(value) : "–";
  const items = own.slice(0, most).map((at) => {
    const words = named(name?.[at], text?.[at] ?? "");
    const shown = inFull(view, { text: text?.[at], words: isNumber(most) ? cut(words, LONG) : words, image: image?.[at] });
    return el("li", {}, repeats[at] === at ? shown : el("s", {}, shown));
  });
  return el("div", { class: "r-answers" },
    el("p", {}, el("bdi", {}, M.models[j]), " ", el("b", {}, number), ` of ${some(M.n[i][j], "answer")}`),
    el("ul", { class: "r-members" }, ...items,
      own.length > most ? el("li", { class: "r-small" }, `and ${count(own.length - most)} more`) : null));
}

/**
 * @param {number} value
 * @param {number} most
 */
function colours(value, most) {
  const at = Math.max(0, Math.min(1, (value - 1) / Math.max(most - 1, 1e-9))) * (COLOURS.length - 1);
  const i = Math.min(Math.floor(at), COLOURS.length - 2);
  const rgb = COLOURS[i].map((from, c) => Math.round(from + (at - i) * (COLOURS[i + 1][c] - from)));
  const [r, g, b] = rgb.map((x) => (x / 255) ** 2.2);
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return [`rgb(${rgb.join(" ")})`, light > 0.18 ? "#000" : "#fff"];
}

/** @param {SetRow} row */
function mean({ matched, low, high }) {
  return el("td", {}, el("b", {}, score(matched)), el("small", {}, ends(low, high)));
}

/**
 * @param {number | null} low
 * @param {number | null} high
 */
function ends(low, high) {
  return isNumber(low) && isNumber(high) ? ` ${score(low)}–${score(high)}` : "";
}

/**
 * @param {Matrix} M
 * @returns {Cell[][]}
 */
function rows(M) {
  return [["prompt", ...M.models], ...sorted(M, -1, true).map((i) => [M.prompts[i], ...scoresOf(M)[i]])];
}

/**
 * @param {Compared} C
 * @param {(text: string) => string} written
 */
function words(C, written) {
  const [head, ...lines] = rows(/** @type {Matrix} */ (C.matrix));
  const means = C.rows.map(({ matched, low, high }) => `${score(matched)} (${ends(low, high).trim()})`);
  const cells = lines.map(([prompt, ...values]) => [
    written(String(prompt)),
    ...values.map((value) => (isNumber(value) ? score(value) : "–")),
  ]);
  return [head.map((cell) => written(String(cell))), ...cells, ["mean", ...means]];
}

/** @param {Compared} C */
function markdown(C) {
  const [head, ...lines] = words(C, (text) => (
    text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#|~&$]/g, "\\$&")
  ));
  const rule = head.map((_, j) => (j ? "---:" : "---"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** @type {Record<string, string>} */
const TEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
  "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "[": "{[}", "]": "{]}",
};

/** @param {Compared} C */
function latex(C) {
  const [head, ...lines] = words(C, (text) => (
    text.replace(/\s+/g, " ").replace(/[\\~^<>|[\]&%$#_{}]/g, (sign) => TEX[sign] ?? `\\${sign}`)
  )).map((cells) => `${cells.join(" & ").replaceAll("–", "--")} \\\\\n`);
  const means = lines.pop();
  const columns = `p{0.5\\linewidth}${"r".repeat(C.rows.length)}`;
  return `\\begin{tabular}{${columns}}\n\\hline\n${head}\\hline\n${lines.join("")}\\hline\n${means}\\hline\n\\end{tabular}\n`;
}

/**
 * @param {Compared} C
 * @param {number} most
 */
function drawn(C, most) {
  const M = /** @type {Matrix} */ (C.matrix);
  const order = sorted(M, -1, true);
  const foot = (order.length + 1.7) * LINE;
  /** @param {number} j */
  const middle = (j) => HEAD + (j + 0.5) * CELL;
  return shape("svg", { viewBox: `0 0 ${HEAD + M.models.length * CELL} ${foot + LINE / 2}` },
    ...M.models.map((model, j) => text(cut(model, 13), middle(j), 0.7 * LINE, "middle")),
    ...order.flatMap((i, at) => {
      const y = (at + 1) * LINE;
      return [text(cut(M.prompts[i], 34), 0, y + 0.7 * LINE, "start"), ...scoresOf(M)[i].flatMap((value, j) => {
        const [fill, ink] = colours(value ?? 1, most);
        const said = shape("text", { x: middle(j), y: y + 0.7 * LINE, fill: ink, "font-size": 13, "text-anchor": "middle" }, score(value ?? 1));
        return isNumber(value) ? [shape("rect", { x: HEAD + j * CELL, y, width: CELL - 1, height: LINE - 1, fill }), said] : [];
      })];
    }),
    text("mean", 0, foot, "start"),
    ...C.rows.map(({ matched, low, high }, j) => text(`${score(matched)} (${ends(low, high).trim()})`, middle(j), foot, "middle")));
}
