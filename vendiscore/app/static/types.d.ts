/** Types that comments of the page's JavaScript name; no browser is sent this file. */

type Plain = string | number | boolean | null | undefined;
type Child = Node | Plain | Child[];
type Events = HTMLElementEventMap;
/** Attributes of an element made by `el` or `shape`; a listener knows the element it is on. */
type Attributes<Of = Element> = {
  [Name in keyof Events as `on${Name}`]?: (event: Events[Name] & { target: Of }) => void;
} & { [name in AttributeName]?: Plain } & { [name: `aria-${string}` | `data-${string}`]: Plain };
type AttributeName =
  | "alt" | "autocapitalize" | "autocomplete" | "checked" | "class" | "colspan" | "cx" | "cy" | "d"
  | "dir" | "fill" | "for" | "height" | "hidden" | "id" | "loading" | "max" | "min" | "multiple"
  | "name" | "open" | "placeholder" | "points" | "r" | "role" | "rows" | "rx" | "scope" | "size"
  | "spellcheck" | "src" | "step" | "tabindex" | "text-anchor" | "title" | "type" | "value"
  | "viewBox" | "width" | "x" | "x1" | "x2" | "y" | "y1" | "y2";

/** Elements of index.html that are more than an HTMLElement. */
interface Named {
  "dataset-name": HTMLInputElement;
  score: HTMLButtonElement;
  "sets-kind": HTMLSelectElement;
}

/** A result of /page/score. */
interface Result {
  n: number;
  of: number;
  name: string;
  comparison: string;
  by_group?: { group: string; n: number; VS: number }[] | null;
}
