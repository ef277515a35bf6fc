/** Files that are dropped or pasted anywhere on the page; text that is pasted outside of a box. */

const WRITES = "textarea, input, select, [contenteditable]";

/**
 * Passes files and text on; shows `shade` while files are over the page.
 * @param {HTMLElement} shade
 * @param {(files: File[], target: EventTarget | null) => void} take
 * @param {(text: string) => void} write
 */
export function drop(shade, take, write) {
  /** @param {DragEvent} event */
  const holds = (event) => event.dataTransfer?.types.includes("Files");
  /** @param {DragEvent} event */
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
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length) take(files, event.target);
  });
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    // Spreadsheets put a picture of the cells beside their text.
    if (files.length && !text) take(files, event.target);
    else if (text.trim() && !(event.target instanceof Element && event.target.closest(WRITES))) write(text);
    else return;
    event.preventDefault();
  });
}
