/** Pictures that are explored: by a pointer, a finger, or the keys of the keyboard. */

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/**
 * Makes a picture explorable. `at(x, y)` is the place at proportions of its width and height, or
 * null; `step(place, dx, dy)` a neighbour; `choose(place)` handles Enter and double clicks.
 * @template Place
 * @param {HTMLElement} node
 * @param {Explored<Place>} how
 */
export function explorable(node, { at, step, ends, show, choose }) {
  /** @type {Place | null} */
  let now = null;
  /** @param {Place | null | undefined} place */
  const go = (place) => {
    if (place === null || place === undefined) return;
    now = place;
    show(place);
  };
  /** @param {PointerEvent} event */
  const point = ({ clientX, clientY }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    go(at((clientX - left) / width, (clientY - top) / height));
  };
  node.addEventListener("pointermove", point);
  node.addEventListener("pointerdown", point);
  node.addEventListener("dblclick", () => now !== null && choose?.(now));
  node.addEventListener("keydown", (event) => {
    const place = keyed(event, now, step, ends);
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && now !== null) choose?.(now);
    else if (place === undefined) return;
    else go(place);
    event.preventDefault();
  });
}

/**
 * @template Place
 * @param {KeyboardEvent} event
 * @param {Place | null} now
 * @param {Explored<Place>["step"]} step
 * @param {[Place, Place]} ends
 */
function keyed({ key, shiftKey, altKey, ctrlKey, metaKey }, now, step, [first, last]) {
  if (altKey || ctrlKey || metaKey) return undefined;
  if (key === "Home") return first;
  if (key === "End") return last;
  const by = STEPS[key];
  if (!by) return undefined;
  if (now === null) return first;
  const times = shiftKey ? 10 : 1;
  return step(now, by[0] * times, by[1] * times);
}
