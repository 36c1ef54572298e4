"""A client file gets the table that was read; what is written by hand stays."""

from datetime import date
from pathlib import Path

from harness.codec.versions import VersionRange
from harness.negotiation.client_file import read_client_file
from labs.client_versions.client_toml import NOT_WRITTEN, file_of, rewritten

DAY = date(2027, 1, 31)
HEAD = {"client": "mine", "release": "1.3", "source": "the wheel of mine 1.3"}
VERSIONS = {"Produce": VersionRange(3, 9), "Fetch": VersionRange(4, 4)}
OLD = """\
# The first comment,
# and its second line.
client = "mine"
release = "1.2"
source = "its manual"
without_api_versions = "it gives up"

[versions]
Produce = "3-8"
Metadata = "0"

[[feature]]
name = "zstd"
meaning = "compression with zstandard"
# this one stays too
needs = {Produce = "7+"}
"""


def test_old_file_keeps_comments_features_and_sentence(tmp_path: Path) -> None:
    text = rewritten(OLD, HEAD, DAY, VERSIONS)
    assert text.startswith('# The first comment,\n# and its second line.\nclient = "mine"\n')
    assert text.endswith(OLD[OLD.index("\n[[feature]]") :])
    path = tmp_path / "mine-1.3.toml"
    path.write_text(text, "utf-8")
    found = read_client_file(path)
    assert (found.release, found.source, found.read_on) == ("1.3", HEAD["source"], DAY)
    assert found.without_api_versions == "it gives up"
    assert found.versions == VERSIONS


def test_second_writing_changes_nothing() -> None:
    once = rewritten(OLD, HEAD, DAY, VERSIONS)
    assert rewritten(once, HEAD, DAY, VERSIONS) == once


def test_new_file_can_be_read_and_names_the_missing_sentence(tmp_path: Path) -> None:
    path = file_of("mine", "1.3", tmp_path)
    path.write_text(rewritten("", HEAD, DAY, VERSIONS), "utf-8")
    found = read_client_file(path)
    assert found.name == path.stem == "mine-1.3"
    assert found.without_api_versions == NOT_WRITTEN
    assert found.features == ()
