"""Parse and check HTML reports: their elements, texts and tables by section."""

import re
from html.parser import HTMLParser

VOID_ELEMENTS = {"meta", "img", "br", "link"}
LINK_ATTRIBUTES = {"src", "href", "xlink:href", "srcset", "action", "data", "poster"}


class ReportPage(HTMLParser):
    """A parsed HTML report; fails if tags do not match, ids repeat or heading levels are skipped.

    Attributes
    ----------
    text : dict of str to str
        Text of each section, by its id, in one line.
    tables : dict of str to list
        Tables of each section, by its id, as lists of rows of cells, header first.
    labels : list of str
        Accessible labels of pictures.
    links : list of str
        Values of attributes that contain links.
    names : set of str
        Names of all elements and attributes.
    """

    def __init__(self, html: str) -> None:
        """Parse `html` and check its structure."""
        super().__init__()
        self.stack: list[str] = []
        self.levels: list[int] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.names: set[str] = set()
        self.scopes: list[str | None] = []
        self.text: dict[str, str] = {}
        self.tables: dict[str, list] = {}
        self.title, self.code, self.section = "", [], ""
        self.feed(html)
        self.close()
        assert self.stack == []
        assert self.levels[0] == 1
        assert self.levels.count(1) == 1
        steps = zip(self.levels, self.levels[1:], strict=False)
        assert all(after <= before + 1 for before, after in steps), self.levels
        assert len(set(self.ids)) == len(self.ids)
        self.text = {name: " ".join(text.split()) for name, text in self.text.items()}

    def handle_starttag(self, tag, attrs):
        """Start a section, table, row, cell or code block, and record the level of headings."""
        self._record_tag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.stack.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "section":
            self.section = dict(attrs)["id"]
            self.text[self.section], self.tables[self.section] = "", []
        if tag == "table":
            self.tables[self.section].append([])
        if tag == "tr":
            self.tables[self.section][-1].append([])
        if tag in ("th", "td"):
            self.tables[self.section][-1][-1].append("")
            self.scopes += [dict(attrs).get("scope")] if tag == "th" else []
        if tag == "pre":
            self.code.append("")

    def handle_startendtag(self, tag, attrs):
        self._record_tag(tag, attrs)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag, tag
        if self.section:
            self.text[self.section] += " "

    def handle_data(self, data):
        """Add text to the title, the section, and the code block or table cell that contain it."""
        if "title" in self.stack:
            self.title += data
        if "svg" in self.stack or not self.section:
            return
        self.text[self.section] += data
        if "pre" in self.stack:
            self.code[-1] += data
        if {"td", "th"} & set(self.stack):
            row = self.tables[self.section][-1][-1]
            row[-1] = f"{row[-1]}{data}"

    def _record_tag(self, tag, attrs):
        """Store the names, links, ids and labels of a tag; check that images have `alt`."""
        self.names |= {tag, *(name for name, _ in attrs)}
        for name, value in attrs:
            if name in LINK_ATTRIBUTES:
                self.links.append(value)
            if name == "id":
                self.ids.append(value)
            if name == "aria-label" and tag == "svg":
                self.labels.append(value)
        if tag == "img":
            assert "alt" in dict(attrs)


def parse_report(report) -> ReportPage:
    """Return the parsed report; check that it has no external links and no scripts."""
    html = report.html()
    page = ReportPage(html)
    for link in page.links:
        assert link.startswith(("#", "data:image/")), link
        assert not link.startswith("#") or link[1:] in page.ids, link
    styles = "".join(re.findall(r"<style>(.*?)</style>", html, re.DOTALL))
    assert not re.search(r"@import|url\((?!#)", styles)
    assert not re.search(r'(?:src|href|xmlns)[^=\s>]*="\s*(?:https?:)?//', html)
    assert not {name for name in page.names if name.startswith("on")} | page.names & {
        *("script", "iframe", "object", "embed", "link", "base", "form")
    }
    assert set(page.scopes) <= {"col", "row"}
    return page
