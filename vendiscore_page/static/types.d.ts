/** Types that comments of the page's JavaScript name; no browser is sent this file. */

// Elements

type Plain = string | number | boolean | null | undefined;
type Child = Node | Plain | Child[];
/** A part that `fill` puts into a container. */
type Part = Node | null | undefined | false | "" | Part[];
type Events = HTMLElementEventMap;
/** Attributes of an element that `el` makes; a listener knows the element it is on. */
type Attributes<Of = Element> = {
  [Name in keyof Events as `on${Name}`]?: (event: Events[Name] & { target: Of }) => void;
} & { [name in AttributeName | `aria-${string}` | `data-${string}`]?: Plain };
type AttributeName =
  | "alt" | "autocapitalize" | "autocomplete" | "checked" | "class" | "colspan" | "cx" | "cy" | "d"
  | "dir" | "disabled" | "fill" | "font-family" | "font-size" | "font-weight" | "for" | "height" | "hidden" | "href" | "id" | "loading" | "max" | "min" | "multiple"
  | "name" | "open" | "placeholder" | "offset" | "points" | "preserveAspectRatio" | "r" | "role" | "required" | "rows" | "rx" | "scope" | "selected" | "size"
  | "spellcheck" | "src" | "step" | "stop-color" | "tabindex" | "text-anchor" | "title" | "transform" | "type" | "value"
  | "viewBox" | "width" | "x" | "x1" | "x2" | "y" | "y1" | "y2";

interface HTMLElementEventMap {
  /** Clusters were found anew. */
  threshold: CustomEvent<Clusters>;
  /** The groups of a result are to be compared. */
  compare: CustomEvent;
}

/** Elements of index.html, by their id, that are more than an HTMLElement. */
interface Named {
  "dataset-name": HTMLInputElement;
  "example-answer": HTMLLinkElement;
  score: HTMLButtonElement;
  stop: HTMLButtonElement;
}

// Answers of the server

type Kind = "texts" | "images" | "molecules" | "vectors";
type Tab = Kind | "compare";

/** Why something cannot be done; `others` samples remain without what it is about. */
interface Problem {
  text: string;
  then?: string;
  lines?: string[];
  others?: number;
  rows?: string;
}

/** An error of a call: a `Refusal`, or whatever else was thrown. */
interface Failure {
  message?: string;
  problem?: Problem;
  gone?: boolean;
}

/** Samples that were read, from /page/read. */
interface Read {
  key: string;
  kind: Kind;
  kinds: Kind[];
  name: string;
  /** What the reader took of a table, and what it left out; "" of others. */
  taken: string;
  said: string;
  /** The kernel for samples that the usual encoder does not suit, else "", with a note on it. */
  kernel?: string;
  advice?: string[];
  notes: string[];
  n: number;
  total: number;
  draw: number;
  unit: string;
  text: string;
  preview: (string | { image: string })[];
  columns: string[];
  column: string | null;
  by: string | null;
  prompt_column: string;
  sets_by: string | null;
  /** The column of correct answers, and the threshold if it contains numbers. */
  correct?: string | null;
  min_quality?: number | null;
  /** Columns that can be selected as `correct`, with the default threshold of numbers. */
  correct_columns?: [column: string, threshold: number | null][];
  roles: { [role in Role]?: [column: string, count: number] };
  questions: TableQuestion[];
  unasked: string[];
  /** The label of the question that the samples answer as they were read. */
  current: string | null;
  groups: number;
  prompts: number;
  separator: string | null;
  splits: { value: string; count: number }[];
  problems: (Omit<Problem, "text"> & { count: number }) | null;
}

/** What a column can tell of the samples. */
type Role = "model" | "prompt" | "label" | "id";

/** A question that a table can answer, read as its options say. */
interface TableQuestion {
  label: string;
  options: Asked;
  compares: boolean;
  show: string;
}

/** How samples are to be read; what is missing is found out. */
interface Asked extends Partial<Record<Role, string>> {
  kind?: Kind;
  column?: string;
  by?: string | null;
  prompts?: string | null;
  separator?: string;
  draw?: number;
  example?: string;
  dataset?: string;
  sets?: string | null;
  correct?: string | null;
  min_quality?: number | null;
  pool?: boolean;
  matrix?: boolean;
  type?: string;
  /** What several text files hold: a text each, the texts of one set, or the texts of a set each. */
  files?: "texts" | "set" | "sets";
  wide?: boolean;
  answers?: boolean;
}

interface Question {
  text: string;
  choices: { label: string; options: Asked }[];
}

/** An answer of /page/read: samples, a question or a problem. */
type ReadAnswer = Partial<Read> & { question?: Question; problem?: Problem };

interface Option {
  name: string;
  label: string;
  type: "number" | "choice" | "checks";
  value: OptionValue;
  /** The argument of `compute` that it sets. */
  keyword: string;
  info: string;
  choices: (string | number)[] | null;
}
type OptionValue = number | string | (string | number)[];
type OptionValues = Record<string, OptionValue>;

type Setter = (value: OptionValue) => void;
type Control = (option: Option, value: OptionValue, set: Setter) => HTMLElement;

interface KernelEntry {
  kernel: string;
  label: string;
  small: string;
  compares: boolean;
  prompts: boolean;
  options: Option[];
  /** Arguments of `compute` that select it. */
  arguments: Record<string, unknown>;
}

interface Example {
  name: string;
  note: string;
  kernel?: string;
  prompt?: string;
  /** The call of a link to its result. */
  arguments?: string;
}
interface Pairing extends Example {
  kind: Kind;
  sets: { name: string; example: string }[];
}

/** The menu of /page/menu. */
interface Menu {
  kinds: Record<
    Kind,
    { kernels: KernelEntry[]; default: string; absent: string[]; note: string; examples: Example[] }
  >;
  compare: { examples: Pairing[] };
  links: Record<string, string>;
  limits: { sentence: string; q: number };
  version: string;
}

/** Clusters at a threshold, by rows of the table, from /page/groups. */
interface Clusters {
  threshold: number;
  /** How many samples repeat another at each of a few similarities; null where that is unknown. */
  repeats: [number, number | null][];
  /** The pairs next to the threshold and their similarities, the most similar first. */
  boundary: [number, number, number][];
  groups: Cluster[];
  without: { left: number; of: number; all: number } & Scored;
}
interface Cluster {
  keep: number;
  rest: number[];
}

interface Columns {
  place: (number | string)[];
  /** The columns of the visitor's table with their names, in its order. */
  cells: [name: string, column: (string | number | null)[]][];
  /** Names of molecules, if there are any; "" for a molecule without a name. */
  name?: string[] | null;
  text: string[] | null;
  image: string[] | null;
  group: (number | string)[] | null;
  nearest: number[];
  similarity: (number | null)[];
  adds: (number | null)[];
}
/** The tree in which samples merge, the typical sample of each merge, and how many themes to show. */
interface Tree {
  count: number;
  merges: [number, number][];
  typical: number[];
}
/** The number of the theme of each sample, and the typical sample of each theme. */
interface Themes {
  codes: number[];
  typical: number[];
}
/** A way to colour samples: the number of the colour of each, and the name of each colour. */
interface Coloured {
  codes: number[];
  names: string[];
  /** A picture of what has a colour. */
  face?(code: number): Node | null;
  tools?: Node[];
}
/** What a map is of: places, what they are coloured by (the first at first), and what they are. */
interface Scatter {
  x: number[];
  y: number[];
  ways(): Record<string, Coloured>;
  text(i: number): string;
  card(i: number, way: string): (Node | string)[];
  picture?(i: number, box: Attributes): SVGElement | null;
  open?(i: number): void;
  /** Hears which samples fit the search and the colour that was picked; null for all. */
  picked?(fits: ((i: number) => boolean) | null): void;
}
interface Drawing {
  name: string;
  svg: string;
  caption: string;
}

/** The score by a second kernel, from /page/second; at first what it is `by` alone. */
interface Second {
  own: string;
  by: string;
  sentence?: string;
  notes?: string[];
  code?: string;
}

/** What has a Vendi Score, under the key VS or, at another order than 1, VS_q2 and so on. */
interface Scored {
  [score: `VS${string}`]: number;
}

/** A result of /page/score. */
/** A magnitude function. */
interface Curve {
  name: string;
  distinct: number;
  convergence: number;
  scales: number[];
  values: number[];
  sentence: string;
}

/** All values of a call that was edited as text, from /page/compute. */
interface Values {
  id?: string;
  n: number;
  name: string;
  kind: Kind;
  arguments: string;
  comparison: string;
  code: string;
  values: Record<string, number | string | null>;
  /** Magnitude measures of the references; empty without any. */
  reference_values: Record<string, number | string | null>;
  /** The names of two sets, of which the second is the references. */
  sets?: string[];
  notes: string[];
  signature: string;
  curves: Curve[];
}

interface Result extends Clusters, Scored {
  id: string;
  key: string;
  kind: Kind;
  what: string;
  name: string;
  n: number;
  total: number;
  q: number | string;
  kernel: string;
  comparison: string;
  se: number | null;
  low: number | null;
  high: number | null;
  level: number | null;
  of: number;
  /** The most that they can score: their number, or the columns that they have. */
  most: number;
  /** The main result, as the title states it. */
  finding: string;
  sentence: string;
  copies: string;
  typical: string;
  /** Known sets in ascending order, and the highest possible score. */
  scale: [string, number][];
  wording: string;
  second: Second | null;
  /** Once they were asked for. */
  phrases?: Phrases;
  id_column: string;
  /** The column of the samples, where they are of a table. */
  column: string | null;
  interval: string;
  notes: string[];
  signature: string;
  code: string;
  left_out: (number | string)[];
  unused: string;
  samples: Columns;
  prompts: string[];
  floor: number;
  map: { x: number[]; y: number[] };
  themes: Tree;
  by_group: GroupRow[] | null;
  /** Each set by itself, such as each model: the mean over its groups. */
  by_set: GroupRow[] | null;
  growth: string;
}

interface GroupRow extends Scored {
  group: string;
  n: number;
  /** Samples per group, of a mean over groups. */
  of?: number;
  low?: number | null;
  high?: number | null;
}

/** A comparison of /page/compare. */
interface Compared {
  id?: undefined;
  name?: undefined;
  kind: Kind;
  what: string;
  kernel: string;
  comparison: string;
  finding: string;
  sentence: string;
  verdicts: string[];
  notes: string[];
  matched_size: number;
  level: number;
  within: number | null;
  /** Combinations of a set and a group with fewer than two samples. */
  missing_cells: number;
  quality: Quality | null;
  rows: SetRow[];
  pairs: PairRow[];
  pictures: Drawing[];
  sources: Sources | null;
  matrix: Matrix | null;
  map: Mapped;
  signature: string;
  code: string;
}
/** The comparison of correct answers: `QualityParts` of each pair, or the `problem`. */
interface Quality {
  column: string;
  min_quality: number | null;
  problem: string;
  parts: QualityParts[];
}
interface QualityParts extends Record<QualityPart, number>, Record<`${QualityPart}_${"low" | "high"}`, number | null> {
  a: string;
  b: string;
  size: number;
  prompts: number;
  all_prompts: number;
  sentence: string;
}
type QualityPart = "total" | "among_correct" | "from_failures";
/** Numbers of answers and scores of each prompt (rows) and model (columns). */
interface Matrix {
  models: string[];
  prompts: string[];
  n: number[][];
  [scores: `VS${string}`]: (number | null)[][];
}
/** All samples, or a random part; `repeats` is the first that a sample repeats in its cell. */
interface Mapped {
  x: number[];
  y: number[];
  set: string[];
  group?: string[];
  place: (number | string)[];
  text?: string[];
  image?: string[];
  repeats: number[];
  /** Names of molecules, if there are any; "" for a molecule without a name. */
  name?: string[];
  /** The visitor's own columns, in the order of the table. */
  cells: [name: string, column: Cell[]][];
}
interface SetRow extends Scored {
  name: string;
  n: number;
  n_per_group: number | null;
  se: number | null;
  matched: number;
  matched_se: number | null;
  low: number | null;
  high: number | null;
}
interface PairRow {
  a: string;
  b: string;
  difference: number;
  low: number | null;
  high: number | null;
  level: number;
  p: number;
  p_floor: number;
  detectable_difference: number | null;
  verdict: string;
}
/** The words and the picture of a sample, one of which it may lack. */
interface Seen {
  text?: string;
  /** `text` after the name of the sample. */
  words?: string;
  image?: string;
}
interface SourcePrompt extends Scored {
  prompt: string;
}
interface Sources extends Scored {
  what: string;
  sentence: string;
  sources: { name: string; adds: number; nearest: string; similarity: number; within: number | null }[];
  most: SourcePrompt[];
  notes: string[];
  signature: string;
}

/** The answer of /page/phrases: `PhraseCosts.to_dict`, with a sentence, a note and code. */
interface Phrases extends Scored {
  phrases: PhraseRow[];
  settings: { analyzer: string };
  sentence: string;
  note: string;
  code: string;
}
interface PhraseRow {
  phrase: string;
  n_texts: number;
  cost: number | null;
  share: number | null;
  cost_q2: number;
  overlaps: string[];
}

/** The answer of /page/papers. */
interface Papers {
  pictures: Drawing[];
  sentences: string[];
  code: string;
  signature: string;
  details: object;
}

// The page

interface Settings {
  kernel: string;
  q: number | null;
  options: Record<string, OptionValues>;
  /** The call as the visitor wrote it; "" if the controls say it. */
  arguments: string;
}

/** What an address says of the page. */
interface Link {
  tab: Tab;
  kernel: string;
  options: OptionValues;
  q: number | null;
  arguments: string;
  example: string;
  threshold: number | null;
  prompt: string;
}

/** What a result is of: another text for other samples or settings. */
interface Of {
  data: string;
  settings: string;
}

type Announce = (text: string) => void;
/** A way to stop work, and to hear how far it is. */
interface Tools {
  signal: AbortSignal;
  said: Announce;
}
type Way<Options> = (path: string, body: object, options: Options) => Promise<any>;
type Call = Way<{ signal?: AbortSignal } | void>;

/** Ways to ask about a result, and to speak. */
interface Line {
  call: Call;
  follow: Way<Tools>;
  announce: Announce;
}

/** What a view tells of: near-duplicates or themes found anew, a threshold, a sample, a search. */
interface Heard {
  groups: Clusters;
  slide: number;
  jump: number;
  phrase: RegExp | null;
  second: Second;
  themes: Themes;
  seek: ((i: number) => boolean) | null;
}

/** A result as it is looked at, with its clusters at a threshold. */
interface View<Of extends Result | Compared | Values = Result> extends Grouped {
  R: Of;
  signal: AbortSignal;
  announce: Announce;
  /** Shows a few words in the bar for a while. */
  say: Announce;
  size: number;
  /** The least similarity that the slider and the histogram show. */
  lowest: number;
  /** Drawings of molecules. */
  drawings: Record<"want" | "wish", (image: Element, smiles: string) => void> | null;
  /** The phrase that is highlighted in the samples. */
  phrase: RegExp | null;
  setPhrase(pattern: RegExp | null): void;
  themes: Themes;
  /** Draws the map for a file. */
  map?: () => SVGElement;
  /** Shows so many themes. */
  setThemes(many: number): void;
  on<Name extends keyof Heard>(name: Name, run: (news: Heard[Name]) => void): void;
  tell<Name extends keyof Heard>(name: Name, news: Heard[Name]): void;
  setGroups(answer: Clusters): void;
  /** A sample's place as the visitor counts: "#7", or the name of its file. */
  where(i: number): string;
  /** The same where there is little room: a file without its folders. */
  mark(i: number): string;
  /** A sample in words; molecules as SMILES. */
  text(i: number): string;
  /** The same after its name, if it has one. */
  words(i: number): string;
  /** The words of a sample say more than its place. */
  hasText: boolean;
  asked(path: string, body: object): Promise<any>;
  followed(path: string, said: Announce): Promise<any>;
}
type Head = [words: string, kind?: string, means?: string];
/** The edges of a chart and its plot. */
interface Box {
  wide: number;
  high: number;
  left: number;
  right: number;
  top: number;
  ground: number;
}
type Scale = (value: number) => number;
/** Words beneath a mark, and where it stands. */
type Flag = [words: string, x: number];
type Dot = [x: number, y: number, r: number];
type MenuItem = [words: string, run: () => unknown, small?: string];
/** A cell of a table that is saved. */
type Cell = string | number | null | undefined;
interface Explored<Place> {
  at(x: number, y: number): Place | null;
  step(place: Place, dx: number, dy: number): Place;
  ends: [Place, Place];
  show(place: Place): void;
  choose?(place: Place): void;
}
/** A column of the table of all samples, and the samples as they are sorted by one. */
interface Column {
  name: string;
  words: string;
  kind?: string;
  first?: boolean;
  value(i: number): string | number;
}
interface Sorting {
  by: string;
  down: boolean;
  words: string;
  order: number[];
  made: number;
  fits: Heard["seek"];
  values: Record<string, Column["value"]>;
}
type AnyView = View<Result> | View<Compared> | View<Values>;
interface Grouped {
  threshold: number;
  boundary: Clusters["boundary"];
  groups: Cluster[];
  alone: number[];
  without: Clusters["without"] | undefined;
  /** The number of the cluster of each sample; negative for samples that are alone. */
  groupOf: Int32Array;
}

type Given = import("./asking/given.js").Given;
type Snapshot = ReturnType<Given["snapshot"]>;
interface SamplesPage {
  current(): Given;
  examples(): Example[];
  attach(files: File[]): void;
  prefer(): Kind | "";
  score(): void;
  turn(kind: Kind): void;
  example(entry: Example): void;
}
interface QuestionsPage {
  score(): Promise<void>;
  compare(options: Asked, then: () => void): void;
  back(given: Given, options: Asked, then: () => void): void;
}
interface TabsPage {
  mark(tab: Tab): void;
  drawn(tab: Tab): void;
  changed(given: Given): void;
  score(): void;
  announce: Announce;
}
interface ShownPage {
  announce: Announce;
  now(tab: Tab): Of;
  moved(tab: Tab, threshold: number): void;
  renew(tab: Tab, of: Of): Promise<Result | null>;
  empty(): Node[];
}
interface CardSets {
  take(files: File[], card: Card): void;
  remove(card: Card): void;
  turn(kind: Kind): void;
  renamed(): void;
  score(): void;
}
interface SetsSnapshot {
  kind: Kind | "";
  example: string;
  prompt: string;
  cards: [name: string, given: Snapshot][];
}
type Sets = ReturnType<typeof import("./asking/compare.js").comparing>;
interface Card {
  given: Given;
  node: HTMLElement;
  name(): string;
  isNamed(): boolean;
  rename(text: string, byVisitor?: boolean): void;
  focus(): void;
  attach(files: File[]): void;
  draw(removable: boolean): void;
}
type Shown = ReturnType<typeof import("./asking/shown.js").results>;

/** What outlives a reload. */
interface Kept {
  hash: string;
  was: string;
  tab: Tab;
  chosen: boolean;
  settings: Record<Tab, Settings>;
  thresholds: { [tab in Tab]?: number };
  lent: { [tab in Tab]?: string };
  givens: Record<Kind, Snapshot>;
  sets: SetsSnapshot;
  result: { answer: any; of: Of; stale: boolean } | null;
}

/**
 * The state of the page. Settings that nobody has made are null: they are not sent, and the server
 * takes its own. `lent` are the kernels that were set before an example brought its own; `chosen`
 * tells whether the visitor chose the tab; `drawn` are the kernels that are shown.
 */
interface Page {
  tab: Tab;
  chosen: boolean;
  menu: Menu | null;
  loading: Promise<void>;
  thresholds: { [tab in Tab]?: number };
  givens: Record<Kind, Given>;
  sets: Sets;
  lent: { [tab in Tab]?: string };
  /** The example that the page opens on while it is shown, and the tabs that its kernel is lent to. */
  example: { kernel: string; kind: Kind; tabs: Tab[] | null } | null;
  settings: Record<Tab, Settings>;
  listed: Map<string, KernelEntry[]>;
  drawn: KernelEntry[] | null;
}

/** A result with what it is of, under the id by which the server keeps it. */
interface Entry {
  answer: Result | Compared | Values;
  of: Of;
  id?: string;
  renewing?: Promise<Result | null> | null;
}
