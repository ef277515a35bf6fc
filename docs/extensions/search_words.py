"""Add index entries, which the site's search ranks first, for the words in search_words.toml."""

from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class SearchWords(SphinxTransform):
    """Put the words of a page, or of one of its sections, into the general index."""

    default_priority = 840  # before the domains read the index entries

    def apply(self, **kwargs: object) -> None:
        sections = {
            name: each for each in self.document.findall(nodes.section) for name in each["ids"]
        }
        for place, words in self.config.search_words.items():
            page, _, anchor = place.partition("#")
            if page != self.env.docname:
                continue
            section = sections[anchor] if anchor else next(iter(sections.values()))
            entries = [("single", word, anchor, "main", None) for word in words]
            section.insert(1, index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("search_words", {}, "env")
    app.add_transform(SearchWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
