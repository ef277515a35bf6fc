/** A sentence and a picture of the result, to copy or to save. */

import { about, count, cut, error, isNumber, score, shape, vendi, whole } from "../dom.js";
import { menu } from "./menu.js";
import { FONT, inlined, painted } from "./pictures.js";
import { copyText, save } from "./saves.js";
import { drawn as scale } from "./strip.js";

const WIDE = 1200;
const HIGH = 630;
const EDGE = 80;
const HALF = 340; // width of the scale before it is enlarged

/**
 * Makes the button that shares a view.
 * @param {View} view
 */
export function shareMenu(view) {
  const picture = () => painted(drawn(view));
  return menu("Share", "Share this result", [
    copying(view, "sentence", () => copyText(sentence(view)), "select the sentence below"),
    copying(view, "Markdown row", () => copyText(row(view)), "select the numbers above"),
    copying(view, "picture", () => copyPicture(picture), "save the picture instead"),
    ["Save the picture", async () => save(await picture(), "vendiscore.png"), "PNG, 1,200 × 630"],
  ]);
}

/**
 * Makes the entry of a menu that copies something and says so, or what to do `otherwise`.
 * @param {AnyView} view
 * @param {string} what
 * @param {() => Promise<boolean>} copy
 * @param {string} otherwise
 * @returns {MenuItem}
 */
export function copying(view, what, copy, otherwise) {
  const are = what.endsWith("s") ? "are" : "is";
  const run = async () => view.say(
    (await copy())
      ? `The ${what} ${are} copied.`
      : `The browser did not allow copying; ${otherwise}.`,
  );
  return [`Copy the ${what}`, run, ""];
}

/** @param {View} view */
function sentence({ R }) {
  const both = R.second?.sentence ? ` ${R.second.sentence}.` : "";
  const said = `${R.copies ? `${R.copies} ` : ""}${R.sentence}${both}${R.typical && ` ${R.typical}`}`;
  return `${said} Vendi Score: ${score(vendi(R))}${beside(R)} of ${whole(R)} (${about(R)}).`;
}

/** @param {View} view */
function row({ R }) {
  const { n, q, kernel, low, high, level, signature } = R;
  const interval = isNumber(low) && isNumber(high) ? `${score(low)} to ${score(high)}` : "";
  const version = /vendiscore=([^|]+)/.exec(signature)?.[1] ?? "";
  const cells = [
    ["n", count(n)], ["kernel", kernel], [`Vendi Score${q === 1 ? "" : ` (q = ${q})`}`, `${score(vendi(R))}${beside(R)}`],
    [`${Math.round(100 * (level ?? 0.95))} %`, interval], ["vendiscore", version],
  ];
  const lines = [cells.map(([head]) => head), cells.map(() => "---"), cells.map(([, cell]) => cell)];
  return lines.map((line) => `| ${line.join(" | ")} |\n`).join("");
}

/** @param {Result} R */
function beside({ se }) {
  return error(se) && ` ± ${error(se)}`;
}

// The promise is handed over as it is: Safari forgets the click while one waits.
/** @param {() => Promise<Blob | null>} picture */
async function copyPicture(picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": /** @type {Promise<Blob>} */ (picture()) })]);
    return true;
  } catch {
    return false;
  }
}

/** @param {View} view */
function drawn({ R, map }) {
  const big = { fill: "#5b4bd6", "font-size": 124, "font-weight": 700 };
  /**
   * @param {string} words
   * @param {number} y
   * @param {Attributes} [how]
   */
  const line = (words, y, how = {}) => shape("text", { x: EDGE, y, fill: "#1e1b2e", "font-size": 30, ...how }, words);
  /**
   * @param {SVGElement | null} drawing
   * @param {Attributes} box
   */
  const put = (drawing, box) => {
    for (const [name, value] of Object.entries(box)) drawing?.setAttribute(name, String(value));
    return drawing;
  };
  return inlined(shape("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, "font-family": FONT },
    shape("rect", { width: WIDE, height: HIGH, fill: "#ffffff" }),
    line(cut(about(R), 70), 80),
    line(score(vendi(R)), 220, big),
    line(`of ${whole(R)}${beside(R)}: effective number of samples`, 275),
    put(map?.() ?? null, { x: WIDE / 2 + 40, y: 100, width: WIDE / 2 - EDGE - 40, height: HIGH - 130 }),
    R.most > 1 && put(scale(R, HALF), { x: EDGE - 6, y: 310, width: WIDE / 2 - EDGE, height: 230, preserveAspectRatio: "xMinYMin" }),
    line("Vendi Score", HIGH - 40, { fill: "#5b5770", "font-size": 24 })));
}
