/** Files that are dropped or pasted anywhere on the page; text that is pasted outside of a box. */

const WRITES = "textarea, input, select, [contenteditable]";

/** `take(files, target)` and `write(text)` get them; `shade` is shown while files are over. */
export function drop(shade, take, write) {
  const holds = (event) => event.dataTransfer?.types.includes("Files");
  const over = (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    shade.hidden = false;
  };
  addEventListener("dragenter", over);
  addEventListener("dragover", over);
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) shade.hidden = true;
  });
  addEventListener("drop", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    shade.hidden = true;
    const files = [...event.dataTransfer.files];
    if (files.length) take(files, event.target);
  });
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    // Spreadsheets put a picture of the cells beside their text.
    if (files.length && !text) take(files, event.target);
    else if (text.trim() && !event.target.closest?.(WRITES)) write(text);
    else return;
    event.preventDefault();
  });
}
