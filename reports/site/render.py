"""Pages of the site from templates, each with the way to its root."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from ..as_html import page_script, page_style, script_hash, templates
from ..verdicts import NOT_RUN, WORST_FIRST, VerdictWord
from ..xml_text import xml_text
from . import addresses

STYLE: Final = "site.css"
STYLES: Final = ("base.css", "site.css")
SCRIPTS: Final = ("elements.js", "search.js")
WORDS: Final = {word.name: word for word in (*WORST_FIRST, NOT_RUN)}
"""By verdict, its words."""


class SitePages:
    """Writes the pages below a folder."""

    def __init__(self, folder: Path, version: str, known: Collection[str]) -> None:
        """`version`: of the catalogue. `known`: requirements that have a page."""
        self._folder, self._environment = folder, templates()
        script = page_script(SCRIPTS)
        self._environment.globals.update(
            catalogue_version=version,
            known=frozenset(known),
            verdicts=WORDS,
            script=script,
            script_hash=script_hash(script),
            target_page=addresses.target_page,
            requirement_page=addresses.requirement_page,
            api_page=addresses.api_page,
            badge_file=addresses.badge,
            feed_file=addresses.feed,
            sarif_file=addresses.sarif,
        )
        self._environment.filters["clean"] = xml_text
        self.write(STYLE, page_style(STYLES))

    def page(self, address: str, template: str, **values: object) -> None:
        """Render a template to the file of an address."""
        root = "../" * address.count("/")
        made = self._environment.get_template(f"site/{template}").render(root=root, **values)
        self.write(address, made)

    def write(self, address: str, text: str) -> None:
        """Write a text to the file of an address."""
        file = self._folder / address
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n", errors="replace")


def word_of(verdict: str | None) -> VerdictWord:
    """The words of a verdict; None: there is no check."""
    return WORDS[verdict or NOT_RUN.name]
