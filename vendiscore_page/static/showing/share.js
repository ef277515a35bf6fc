/** A sentence and a picture of the result, to copy or to save. */

import { about, alike, count, cut, error, score, whole } from "../dom.js";
import { menu } from "./menu.js";
import { named, rungs } from "./rungs.js";
import { copyText, save } from "./saves.js";

const WIDE = 1200;
const HIGH = 630;
const EDGE = 80;
const MARKS = 3; // whose names have room
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/**
 * Makes the button that shares a view.
 * @param {View} view
 */
export function shareMenu(view) {
  const picture = () => asPng(drawn(view));
  return menu("Share", "Share this result", [
    copying(view, "sentence", () => copyText(sentence(view)), "select the sentence below"),
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

/**
 * Writes the result in a sentence that stands alone.
 * @param {View} view
 */
function sentence({ R }) {
  const both = R.second?.sentence ? ` ${R.second.sentence}.` : "";
  const said = `${R.copies ? `${R.copies} ` : ""}${R.sentence}${both}${R.typical && ` ${R.typical}`}`;
  return `${said} Vendi Score: ${score(R.VS)}${beside(R)} of ${whole(R)} (${about(R)}).`;
}

/** @param {Result} R */
function beside({ se }) {
  return error(se) && ` ± ${error(se)}`;
}

// The promise is handed over as it is: Safari forgets the click while one waits.
/** @param {() => Promise<Blob>} picture */
async function copyPicture(picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture() })]);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {Promise<Blob>}
 */
function asPng(canvas) {
  return new Promise((give) => canvas.toBlob((blob) => give(/** @type {Blob} */ (blob)), "image/png"));
}

/** @param {View} view */
function drawn({ R, threshold, without }) {
  const canvas = document.createElement("canvas");
  canvas.width = WIDE;
  canvas.height = HIGH;
  const pen = canvas.getContext("2d");
  if (!pen) return canvas;
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, WIDE, HIGH);
  line(pen, about(R), 110, "400 30px", "#56536a");
  const number = `≈ ${score(R.VS)}`;
  const width = line(pen, number, 250, "700 124px", "#5b4bd6");
  line(pen, `of ${whole(R)}${beside(R)}`, 250, "400 56px", "#211e33", EDGE + width + 28);
  meter(pen, R, 300);
  for (const [i, part] of R.typical.split(/(?<=,) |(?<=\)) (?=and )/).entries()) {
    line(pen, part, 390 + 36 * i, "400 30px", "#211e33");
  }
  const left = without && without.left < without.of ? `${without.of < R.n ? `Among a random ${count(without.of)}, without` : "Without"} near-duplicates ${score(without.VS)} of ${count(without.left)} (alike from ${alike(threshold)})` : "";
  line(pen, left, 494, "400 26px", "#56536a");
  line(pen, named(R, MARKS), 526, "400 20px", "#56536a");
  line(pen, "effectively different samples · Vendi Score", 560, "400 26px", "#56536a");
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {Result} R
 * @param {number} top
 */
function meter(pen, R, top) {
  const whole = WIDE - 2 * EDGE;
  /**
   * @param {number} from
   * @param {number} to
   * @param {string} colour
   */
  const bar = (from, to, colour) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect(EDGE + whole * from, top, Math.max(whole * (to - from), 12), 44, 12);
    pen.fill();
  };
  bar(0, 1, "#e6e4f2");
  bar(0, Math.min(R.share, 1), "#5b4bd6");
  for (const [, value] of rungs(R, MARKS)) {
    pen.fillStyle = "#ffffff";
    pen.fillRect(EDGE + whole * (value / R.of) - 3, top, 6, 44);
    pen.fillStyle = "#211e33";
    pen.fillRect(EDGE + whole * (value / R.of) - 1, top, 2, 44);
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} y
 * @param {string} font
 * @param {string} colour
 * @param {number} [x]
 */
function line(pen, text, y, font, colour, x = EDGE) {
  pen.font = `${font} ${FONT}`;
  pen.fillStyle = colour;
  let words = text;
  let longest = text.length;
  while (pen.measureText(words).width > WIDE - EDGE - x) words = cut(text, (longest -= 1));
  pen.fillText(words, x, y);
  return pen.measureText(words).width;
}
