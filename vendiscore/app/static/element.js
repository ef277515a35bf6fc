/** An element: `make("button", {class: "chip", onclick: pick}, "Scents")`; null children are none. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (label, onclick, kind = "chip", more = {}) =>
  make("button", { type: "button", class: kind, onclick, ...more }, label);

/** Fills a container anew; who had the focus in it has it again, found by `data-at`. */
export function fill(container, ...children) {
  const at = container.contains(document.activeElement) && document.activeElement.dataset.at;
  const nodes = children.flat().filter((child) => child !== null && child !== undefined);
  container.replaceChildren(...nodes);
  container.hidden = nodes.length === 0;
  if (at) container.querySelector(`[data-at="${CSS.escape(at)}"]`)?.focus();
}

export const byId = (id) => document.getElementById(id);

export const count = (n) => n.toLocaleString("en");
