/** Sets side by side: the verdicts, the scores at matched size, what only one of them has. */

import { card } from "./bar.js";
import { count, cut, dotted, el, isNumber, score, signed } from "../dom.js";
import { figures, lines } from "./figures.js";
import { carded, heads } from "./heads.js";
import { menu } from "./menu.js";
import { more } from "./more.js";
import { inFull } from "./sample.js";
import { copyText, save, saveJson } from "./saves.js";
import { copying } from "./share.js";
import { sources } from "./sources.js";
import { called } from "./view.js";

const SENTENCES = 6; // that are seen at first
const NAMED = 4; // sets in the bar

/**
 * Makes everything of a comparison.
 * @param {View<Compared>} view
 */
export function comparison(view) {
  const C = view.R;
  return [
    top(view),
    el("section", { class: "r-verdicts" },
      ...more(
        (C.verdicts ?? []).map((verdict) => () => el("p", { class: "r-sentence" }, verdict)),
        "sentences",
        undefined,
        SENTENCES,
      ),
      ...(C.notes ?? []).map((note) => el("p", { class: "r-small" }, note))),
    sets(C),
    pairs(C),
    el("section", {}, figures(view, (C.pictures ?? []).filter(({ name }) => name !== "matched"))),
    sources(view, wide),
    only(view),
    quoted(view),
  ].filter((part) => part !== null);
}

/** @param {View<Compared>} view */
function top(view) {
  const C = view.R;
  const share = menu("Share", "Share this comparison", [
    copying(view, "sentences", () => copyText(C.sentence), "select them below"),
  ]);
  const take = menu("Download", "Download", [
    ["Table (CSV)", () => save(C.csv, "vendiscore.csv", "text/csv"), "a row for each set"],
    ["Everything (JSON)", () => saveJson(C), "all numbers, for programs"],
  ]);
  const ranked = [...C.rows].sort((a, b) => b.matched - a.matched);
  const sides = ranked.slice(0, NAMED).map(({ name, matched }) => el(
    "span",
    {},
    el("bdi", {}, cut(name, 24)),
    " ",
    el("b", {}, score(matched)),
    " ",
  ));
  if (ranked.length > NAMED) sides.push(el("span", {}, `and ${count(ranked.length - NAMED)} more`));
  const matched = C.within
    ? `effectively different in a group, the mean of ${count(C.within)}`
    : `effectively different of ${count(C.matched_size)} each`;
  const about = dotted(matched, C.comparison);
  return card(
    view,
    el("h2", { class: "r-sides" }, ...sides),
    el("p", { class: "r-about" }, about),
    el("div", { class: "r-tools" }, share, take),
  );
}

/** @param {Compared} C */
function sets({ rows, matched_size: size, within, level }) {
  const most = Math.max(...rows.map(({ high, matched }) => high ?? matched), 1);
  const many = `${Math.round(100 * (level ?? 0.95))} % interval`;
  /** @param {SetRow} row */
  const line = ({ name, n, VS, matched, low, high }) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, name)),
    el("td", { class: "r-digits" }, count(n)),
    el("td", { class: "r-digits" }, score(VS)),
    el("td", { class: "r-digits" }, el("b", {}, score(matched))),
    el("td", { class: "r-digits" }, range(low, high)),
    el("td", { class: "r-interval-cell" }, interval(matched, low, high, most)));
  return el("section", {},
    el("h3", {}, "The sets"),
    el(
      "p",
      { class: "r-small" },
      within
        ? `Scores are means over ${count(within)} groups. A larger set scores higher for its size alone, so the bold score is for the same number of samples of each set in a group, drawn at random.`
        : `A larger set scores higher for its size alone, so the bold score is for ${count(size)} samples of each set, drawn at random.`,
    ),
    wide("Scores of the sets", el("table", { class: "r-table r-plain" },
      heads(
        ["set"],
        ["samples", "r-digits"],
        ["whole", "r-digits", "Vendi Score of the whole set"],
        [within ? "matched" : `of ${count(size)}`, "r-digits", "Vendi Score at matched size"],
        [many, "r-digits"],
        ["", "r-interval-cell"],
      ),
      el("tbody", {}, ...rows.map(line)))));
}

/**
 * @param {string} label
 * @param {HTMLTableElement} table
 */
function wide(label, table) {
  return el(
    "div",
    { class: "r-across-scroll", tabindex: 0, role: "region", "aria-label": label },
    carded(table),
  );
}

/**
 * @param {number | null} low
 * @param {number | null} high
 */
function range(low, high) {
  return isNumber(low) && isNumber(high) ? `${score(low)} to ${score(high)}` : "–";
}

/**
 * @param {number} value
 * @param {number | null} low
 * @param {number | null} high
 * @param {number} most
 */
function interval(value, low, high, most) {
  const bar = el("div", { class: "r-interval", "aria-hidden": "true" });
  /**
   * @param {string} kind
   * @param {number} from
   * @param {number} to
   */
  const put = (kind, from, to) => {
    const part = el("i", { class: kind });
    part.style.left = `${(100 * from) / most}%`;
    part.style.width = `${(100 * (to - from)) / most}%`;
    bar.append(part);
  };
  if (isNumber(low) && isNumber(high)) put("r-stretch", low, high);
  put("r-point", value, value);
  return bar;
}

/** @param {Compared} C */
function pairs({ pairs: found, rows }) {
  if (!found?.length) return null;
  const levels = new Set(found.map(({ level }) => percent(level)));
  const level = levels.size === 1 ? `${[...levels][0]} interval` : "interval";
  /** @param {{level: number}} pair */
  const beside = (pair) => levels.size > 1 ? ` (${percent(pair.level)})` : "";
  /** @param {PairRow} row */
  const line = ({ a, b, difference, low, high, p, p_floor: floor, verdict, ...pair }) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, a), " − ", el("bdi", {}, b)),
    el("td", { class: "r-digits" }, signed(`${difference > 0 ? "+" : ""}${score(difference)}`)),
    el("td", { class: "r-digits" }, `${signed(score(low))} to ${signed(score(high))}${beside(pair)}`),
    el("td", { class: "r-digits" }, chance(p, floor)),
    el("td", {}, verdict));
  const why = el(
    "p",
    { class: "r-small" },
    "p is how often sets differ as much once their samples are exchanged at random."
      + (found.some(({ p, p_floor: floor }) => atFloor(p, floor))
        ? " ≤ marks the smallest p that as many exchanges can give." : "")
      + (found.length > 1 ? " Intervals hold for all pairs together." : ""),
  );
  const table = wide("Differences between the sets", el("table", { class: "r-table r-plain" },
    heads(
      ["pair"],
      ["difference", "r-digits"],
      [level, "r-digits"],
      ["p", "r-digits"],
      ["so"],
    ),
    el("tbody", {}, ...found.map(line))));
  if (rows.length < 4) return el("section", {}, el("h3", {}, "Differences"), why, table);
  return el(
    "section",
    {},
    el(
      "details",
      { class: "r-details" },
      el("summary", {}, el("h3", {}, `Differences of ${found.length} pairs`)),
      why,
      table,
    ),
  );
}

/**
 * @param {number} p
 * @param {number | null} floor
 */
function chance(p, floor) {
  if (!Number.isFinite(p)) return "–";
  return `${atFloor(p, floor) ? "≤ " : ""}${Number(p).toPrecision(p < 0.001 ? 1 : 2)}`;
}

/**
 * @param {number} p
 * @param {number | null} floor
 */
function atFloor(p, floor) {
  return p <= (floor ?? 0) * (1 + 1e-9);
}

/**
 * Writes a level with one digit, such as 98.3 %.
 * @param {number | null} level
 */
function percent(level) {
  return `${Number((100 * (level ?? 0.95)).toFixed(1))} %`;
}

/**
 * Lists what the others have least of, one set near the other.
 * @param {View<Compared>} view
 */
function only(view) {
  const every = view.R.only ?? [];
  const found = every.filter(({ samples }) => samples.length);
  const none = every.filter(({ samples }) => !samples.length).map(({ name }) => name);
  if (!every.length) return null;
  /** @param {Compared["only"][number]} set */
  const list = ({ name, than, samples }) => el("div", { class: "r-only" },
    el("h4", {}, "Only in ", el("bdi", {}, name)),
    el("p", { class: "r-small" }, "These samples are least like anything in ",
      el("bdi", {}, than),
      `, more so than in shuffled sets; chance would list about ${falseShare(samples)} of them.`),
    el(
      "ul",
      { class: "r-members" },
      ...more(
        samples.map((sample) => () => item(view, sample)),
        "samples",
        (button) => el("li", {}, button),
        6,
      ),
    ));
  return el(
    "section",
    {},
    el("h3", {}, "Samples that only one set has"),
    el("div", { class: "r-pictures" }, ...found.map(list)),
    none.length ? el("p", { class: "r-small" }, alikeByChance(none, every.length)) : null,
  );
}

/** @param {Distinctive[]} samples */
function falseShare(samples) {
  const share = Math.max(...samples.map((sample) => sample.false ?? 0));
  return share < 0.01 ? "less than 1 %" : `${Math.round(100 * share)} %`;
}

/**
 * @param {string[]} names
 * @param {number} all
 */
function alikeByChance(names, all) {
  if (names.length === all) {
    return "No sample is listed: none stands out more than in random parts of all sets.";
  }
  const [last, ...rest] = names.map((name) => cut(name, 40)).reverse();
  const listed = rest.length ? `${rest.reverse().join(", ")} and ${last}` : last;
  return `No sample of ${listed} is listed: none stands out more than in random parts of all sets.`;
}

/**
 * @param {View<Compared>} view
 * @param {Distinctive} sample
 */
function item(view, sample) {
  const name = called(sample.place);
  return el(
    "li",
    {},
    el("span", { class: "r-tag" }, sample.times > 1 ? `${name} · ${count(sample.times)} ×` : name),
    inFull(view, sample, sample.text ? "" : name),
  );
}

/** @param {View<Compared>} view */
function quoted(view) {
  return el("section", {},
    el("details", { class: "r-details" }, el("summary", {}, el("h3", {}, "For papers")),
      el("div", { class: "r-papers" }, ...lines(view, view.R))));
}
