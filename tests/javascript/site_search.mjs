// Print, for each query, the pages that the search of a built site finds, best first.
// node site_search.mjs SITE QUERY...; runs the site's own scripts, as search.html loads them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";

const [site, ...queries] = process.argv.slice(2);
const scripts = ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"];
Object.assign(globalThis, {
  window: globalThis,
  document: { getElementById: () => null },
  SPHINX_HIGHLIGHT_ENABLED: false,
  _ready: () => {},
  _: (text) => text,
});
const source = scripts.map((script) => readFileSync(join(site, script), "utf-8"));
runInThisContext(`${source.join("\n;")}\n;globalThis.Search = Search;`);

const { Search } = globalThis;
const pages = (query) => {
  const found = Search._performSearch(...Search._parseQuery(query)).reverse();
  return [...new Set(found.map(([page]) => page))];
};
console.log(JSON.stringify(Object.fromEntries(queries.map((query) => [query, pages(query)]))));
