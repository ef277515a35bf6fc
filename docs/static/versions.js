// Fill the menu of versions from versions.json at the address of the documentation: a list of
// folders, such as ["0.6.0", "0.5.0", "dev"]. A copy of a page at another address has no menu and
// sends no request.
const menu = document.querySelector("details.versions");
const { site } = menu.dataset;
const address = location.origin + location.pathname;

// The same page of another version if it exists, otherwise the first page of that version.
async function openVersion(event) {
  event.preventDefault();
  const start = event.currentTarget.href;
  const page = start + address.slice(site.length).split("/").slice(1).join("/");
  const exists = await fetch(page, { method: "HEAD" }).then(
    (response) => response.ok,
    () => false,
  );
  location.href = exists ? page + location.hash : start;
}

async function fillMenu() {
  const response = await fetch(`${site}versions.json`);
  const folder = address.slice(site.length).split("/")[0];
  for (const version of await response.json()) {
    const link = document.createElement("a");
    link.href = `${site}${version}/`;
    link.textContent = version;
    if (version === folder) link.setAttribute("aria-current", "true");
    link.addEventListener("click", openVersion);
    const item = document.createElement("li");
    item.append(link);
    menu.querySelector("ul").append(item);
  }
  menu.hidden = false;
}

if (address.startsWith(site)) fillMenu().catch(() => {}); // without a list, the menu stays hidden
