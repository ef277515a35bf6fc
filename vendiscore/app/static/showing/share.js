/** A sentence and a picture of the result, to copy or to save. */

import { alike, count, error, score, whole } from "../dom.js";
import { menu } from "./menu.js";
import { copyText, save } from "./saves.js";

const WIDE = 1200;
const HIGH = 630;
const EDGE = 80;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** The button that shares a view; `say` shows a few words beside it. */
export function shareMenu(view, say) {
  const told = async (done, well, badly) => {
    const words = (await done) ? well : badly;
    view.announce(words);
    say(words);
  };
  const picture = () => asPng(drawn(view));
  return menu("Share", "Share this result", [
    [
      "Copy the sentence",
      () => told(
        copyText(sentence(view)),
        "The sentence is copied.",
        "The browser did not allow copying; select the sentence below.",
      ),
      "",
    ],
    [
      "Copy the picture",
      () => told(
        copyPicture(picture),
        "The picture is copied.",
        "The browser did not allow copying; save the picture instead.",
      ),
      "",
    ],
    ["Save the picture", async () => save(await picture(), "vendiscore.png"), "PNG, 1,200 × 630"],
  ]);
}

/** The result in a sentence that stands alone. */
export function sentence({ R }) {
  const about = [R.name, R.comparison].filter(Boolean).join(" · ");
  const se = error(R.se) && ` ± ${error(R.se)}`;
  const said = `${R.copies ? `${R.copies} ` : ""}${R.sentence}`;
  return `${said} Vendi Score: ${score(R.VS)}${se} of ${whole(R)} (${about}).`;
}

// The promise is handed over as it is: Safari forgets the click while one waits.
async function copyPicture(picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture() })]);
    return true;
  } catch {
    return false;
  }
}

function asPng(canvas) {
  return new Promise((give) => canvas.toBlob(give, "image/png"));
}

function drawn({ R, threshold, without }) {
  const canvas = document.createElement("canvas");
  canvas.width = WIDE;
  canvas.height = HIGH;
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, WIDE, HIGH);
  line(pen, [R.name, R.comparison].filter(Boolean).join(" · "), 110, "400 30px", "#56536a");
  const number = `≈ ${score(R.VS)}`;
  const width = line(pen, number, 250, "700 124px", "#5b4bd6");
  const se = error(R.se) && ` ± ${error(R.se)}`;
  line(pen, `of ${whole(R)}${se}`, 250, "400 56px", "#211e33", EDGE + width + 28);
  meter(pen, R, 300);
  line(pen, R.verdict, 420, "600 46px", "#211e33");
  const left = without && without.left < R.n ? `Without near-duplicates ${score(without.VS)} of ${count(without.left)} (alike from ${alike(threshold)})` : "";
  line(pen, left, 480, "400 30px", "#56536a");
  line(pen, "effectively different samples · Vendi Score", 560, "400 26px", "#56536a");
  return canvas;
}

function meter(pen, R, top) {
  const whole = WIDE - 2 * EDGE;
  const bar = (from, to, colour) => {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.roundRect(EDGE + whole * from, top, Math.max(whole * (to - from), 12), 44, 12);
    pen.fill();
  };
  bar(0, 1, "#e6e4f2");
  bar(0, Math.min(R.share, 1), "#5b4bd6");
}

function line(pen, text, y, font, colour, x = EDGE) {
  pen.font = `${font} ${FONT}`;
  pen.fillStyle = colour;
  let words = text;
  while (words && pen.measureText(words).width > WIDE - EDGE - x) words = `${words.slice(0, -2).trimEnd()}…`;
  pen.fillText(words, x, y);
  return pen.measureText(words).width;
}
