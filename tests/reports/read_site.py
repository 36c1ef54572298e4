"""A site as a reader of its files meets it: links, texts, and what stands at an address."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

_WHOLE = ("http", "https", "data")


class ReadPage(HTMLParser):
    """The links, ids and words of a page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self._words: list[str] = []
        self.feed(file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("href", "src") and value is not None:
                self.links.append(value)
            elif name == "id" and value is not None:
                self.ids.append(value)

    def handle_data(self, data: str) -> None:
        self._words.append(data)

    @property
    def text(self) -> str:
        """All words, with one blank between them."""
        return " ".join(" ".join(self._words).split())


def read_pages(site: Path) -> dict[str, ReadPage]:
    """By address, the pages of a site."""
    files = sorted(site.rglob("*.html"))
    return {file.relative_to(site).as_posix(): ReadPage(file) for file in files}


def broken_links(site: Path) -> list[str]:
    """Links inside of a site that lead to no file, or to no place in it."""
    pages = read_pages(site)
    places = {(address, name) for address, page in pages.items() for name in page.ids}
    files = {(file.relative_to(site).as_posix(), "") for file in site.rglob("*") if file.is_file()}
    there = places | files
    return [
        f"{address}: {link}"
        for address, page in pages.items()
        for link in dict.fromkeys(page.links)
        if urlsplit(link).scheme not in _WHOLE and _place(address, link) not in there
    ]


def _place(address: str, link: str) -> tuple[str, str]:
    """The file and the place in it that a link of a page leads to."""
    path, _, place = urljoin(address, link).partition("#")
    return unquote(path) or address, place


def all_bytes(site: Path) -> dict[str, bytes]:
    """By address, the content of each file."""
    files = (file for file in sorted(site.rglob("*")) if file.is_file())
    return {file.relative_to(site).as_posix(): file.read_bytes() for file in files}
