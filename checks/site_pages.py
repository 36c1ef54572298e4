"""A hook of MkDocs: the site has the documents at their places in the repository.

MkDocs takes pages from one folder alone, and refuses the one that holds ``mkdocs.yml``. README.md
and others stand there, and all documents link to each other by their places. With the same places
in the site no link is rewritten, and MkDocs checks the links that a reader of the repository has.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

BESIDE_DOCS = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docker/README.md",
    "reports/matrix.schema.json",
    "suites/apache-kafka.profile.toml",
)
"""Documents outside of the folder, and files that documents link to."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files below ``docs_dir`` by all files of the site, named from the root."""
    root = Path(config.config_file_path).parent
    theirs = [file for file in files if file.src_dir != config.docs_dir]
    ours = (
        File.generated(config, place.relative_to(root).as_posix(), abs_src_path=str(place))
        for place in _places(root, Path(config.docs_dir))
    )
    return Files([*theirs, *ours])


def _places(root: Path, docs: Path) -> Iterator[Path]:
    yield from (root / name for name in BESIDE_DOCS)
    yield from sorted(place for place in docs.rglob("*") if place.is_file())
