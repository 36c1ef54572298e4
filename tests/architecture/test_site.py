"""The documents as a site: built strictly and offline, complete, and refused with a broken link."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from checks.site_pages import BESIDE_DOCS

pytestmark = pytest.mark.rotates(8)

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = """
import socket, sys
def refuse(*words): raise SystemExit(f"the build wants the network: {words}")
socket.socket.connect = socket.getaddrinfo = refuse
from mkdocs.__main__ import cli
cli(sys.argv[1:])
"""
PAGES = sorted(
    place.relative_to(ROOT)
    for place in (*(ROOT / name for name in BESIDE_DOCS), *(ROOT / "docs").rglob("*"))
    if place.suffix == ".md"
)
ASSETS = sorted(
    place.relative_to(ROOT)
    for place in (*(ROOT / name for name in BESIDE_DOCS), *(ROOT / "docs").rglob("*"))
    if place.is_file() and place.suffix != ".md"
)
FROM_ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//[^>]*>"""
    r"""|<link\b[^>]*\bhref=["']?(?:https?:)?//[^>]*>"""
    r"""|@import[^;]*//[^;]*|url\(["']?(?:https?:)?//[^)]*\)"""
)
SHAPES = ("table", "tr", "ul", "ol", "li", "pre", "img", "h1", "h2", "h3")


def _build(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    words = ("build", "--strict", "--config-file", str(root / "mkdocs.yml"), "--site-dir", site)
    return subprocess.run(
        [sys.executable, "-c", OFFLINE, *map(str, words)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = _build(ROOT, folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A copy of everything that the site is built from."""
    copy = tmp_path / "documents"
    shutil.copytree(ROOT / "docs", copy / "docs")
    for name in ("mkdocs.yml", "checks/site_pages.py", *BESIDE_DOCS):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy / name)
    return copy


def _page(site: Path, name: Path) -> Path:
    return site / name.with_name("index.html" if name.stem == "README" else f"{name.stem}.html")


def test_every_document_has_page(site: Path) -> None:
    assert [name for name in PAGES if not _page(site, name).is_file()] == []


def test_pictures_and_tables_are_copied_to_site(site: Path) -> None:
    assert Path("docs/deep-runs.tsv") in ASSETS
    changed = [n for n in ASSETS if (site / n).read_bytes() != (ROOT / n).read_bytes()]
    assert changed == []


def test_pages_load_nothing_from_network(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.suffix in (".html", ".css")]
    found = [f"{file}: {m[0]}" for file in files for m in FROM_ELSEWHERE.finditer(_text(file))]
    assert files
    assert found == []


def test_pages_have_same_elements_as_commonmark(site: Path) -> None:
    """MkDocs does not read lists and tables as CommonMark does, which repositories show."""
    reader = MarkdownIt("commonmark").enable("table")
    differ = []
    for name in PAGES:
        article = _text(_page(site, name)).split("<article")[1].split("</article>")[0]
        shown, written = _shape(article), _shape(reader.render(_text(ROOT / name)))
        if shown != written:
            differ.append(f"{name}: {shown - written} more, {written - shown} fewer")
    assert not differ, "\n".join(differ)


def _shape(html: str) -> Counter[str]:
    return Counter(re.findall(rf"<({'|'.join(SHAPES)})\b", html))


def _text(file: Path) -> str:
    return file.read_text("utf-8")


def test_broken_link_fails_build(documents: Path, tmp_path: Path) -> None:
    _append(documents / "docs/compare.md", "[a page that is gone](gone.md)")
    ended = _build(documents, tmp_path / "site")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "'docs/compare.md' contains a link 'gone.md'" in ended.stderr


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "text", "warning"),
    [
        ("docs/proxy.md", "[no heading](proxy-rules.md#nothing)", "does not contain an anchor"),
        ("README.md", "[no page](docs/gone.md)", "'README.md' contains a link 'docs/gone.md'"),
        ("README.md", "[a source](harness/cli.py)", "'README.md' contains a link 'harness/cli.py'"),
        ("docs/alone.md", "# A page", "not included in the \"nav\""),
    ],
    ids=["anchor", "readme", "source", "page outside of the navigation"],
)  # fmt: skip
def test_unreachable_page_or_anchor_fails_build(
    name: str, text: str, warning: str, documents: Path, tmp_path: Path
) -> None:
    _append(documents / name, text)
    ended = _build(documents, tmp_path / "site")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert warning in ended.stderr


def _append(file: Path, text: str) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.write(f"\n{text}\n")
