"""The files of a site for other programs: addresses, badges, feeds, links of sources."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.headlines import ReportedHeadline
from reports.site.addresses import LONGEST, badge, feed, name_of, target_page
from reports.site.badges import badge_svg, badge_words
from reports.site.build import write_site
from reports.site.sources import source_links
from reports.totals import Total

from .made_matrix import small
from .made_site import GIVEN

ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("kafka:4.4.0,nodes=3", "kafka@4.4.0,nodes=3"),
        ("external:[::1]:9092", "external@~5b@@1~5d@9092"),
        ("command:docker/kfake.toml", "command@docker~2fkfake.toml"),
        ("../up", "~2e.~2fup"),
        ("a@b", "a~40b"),
        ("ü", "~c3~bc"),
    ],
)
def test_name_in_an_address_follows_from_the_target_alone(target: str, name: str) -> None:
    assert name_of(target) == name
    assert target_page(target) == f"targets/{name}.html"
    assert badge(target, "svg") == f"badges/{name}.svg"


NAMES = st.text("./\\:,~@=_%#+ aZ0\x00ü😀", max_size=8)


@given(NAMES, NAMES)
def test_different_names_have_different_and_safe_addresses(one: str, other: str) -> None:
    made = name_of(one)
    assert (made == name_of(other)) is (one == other)
    assert made.isascii()
    assert 0 < len(made) <= LONGEST + 17
    assert not set(made) & set('/\\:*?"<>|%#+ &')
    assert made[0] != "."


def test_long_names_are_cut_and_stay_different() -> None:
    one, other = name_of("x" * 400), name_of("x" * 401)
    assert one != other
    assert len(one) == len(other) < 200


HEADLINE = ReportedHeadline(requirements=20, judged=9, musts=10, musts_passed=3, not_judged=())


@pytest.mark.parametrize(
    ("must", "complete", "message", "colour"),
    [
        ({"passed": 3}, True, "3 of 10 MUSTs passed", "brightgreen"),
        ({"passed": 3, "not_supported": 2}, True, "3 of 10 MUSTs passed", "brightgreen"),
        ({"passed": 3, "inconclusive": 1}, True, "3 of 10 MUSTs passed", "yellow"),
        ({"not_supported": 1}, True, "0 of 10 MUSTs passed", "yellow"),
        ({"passed": 3, "failed": 2}, True, "2 of 10 MUSTs failed", "red"),
        ({"passed": 3, "failed": 1, "harness_error": 1}, True, "2 of 10 MUSTs failed", "red"),
        ({"passed": 3, "failed": 2}, False, "incomplete run", "orange"),
        ({"passed": 3}, False, "incomplete run", "orange"),
    ],
)
def test_badge_shows_the_worst_that_holds(
    must: dict[str, int], complete: bool, message: str, colour: str
) -> None:
    words = badge_words(Total("x", Counter(must), Counter(must), HEADLINE), complete=complete)
    assert (words.message, words.colour) == (message, colour)


def test_badge_is_an_image_with_its_words_as_text(tmp_path: Path) -> None:
    write_site(small(), GIVEN, tmp_path)
    drawn = ElementTree.fromstring((tmp_path / badge("stranger", "svg")).read_text())
    assert drawn.get("role") == "img"
    said = "Kafka protocol: 2 of 7 MUSTs failed"
    assert drawn.get("aria-label") == drawn.findtext(f"{SVG}title") == said
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert texts == ["Kafka protocol", "2 of 7 MUSTs failed"]
    widths = [int(one.get("width", "0")) for one in drawn.iter(f"{SVG}rect")]
    assert int(drawn.get("width", "0")) == widths[0] == sum(widths[1:])
    shown = json.loads((tmp_path / badge("stranger", "json")).read_text())
    assert shown == {
        "schemaVersion": 1,
        "label": "Kafka protocol",
        "message": "2 of 7 MUSTs failed",
        "color": "red",
    }


def test_badge_escapes_its_words() -> None:
    words = badge_words(Total("x", Counter(), Counter()), complete=True)._replace(message="<&>")
    drawn = ElementTree.fromstring(badge_svg(words))
    assert [one.text for one in drawn.iter(f"{SVG}text")] == ["Kafka protocol", "<&>"]


def test_feed_has_an_entry_for_each_run_with_changes_the_newest_first(tmp_path: Path) -> None:
    write_site(small(), GIVEN, tmp_path, "https://x.example/kafka/")
    made = ElementTree.fromstring((tmp_path / feed("stranger")).read_text())
    assert made.tag == f"{ATOM}feed"
    assert made.findtext(f"{ATOM}title") == "Kafka conformance of stranger"
    assert made.findtext(f"{ATOM}updated") == "2026-01-01T00:01:00+00:00"
    links = {one.get("rel"): one.get("href") for one in made.findall(f"{ATOM}link")}
    assert links == {
        "self": "https://x.example/kafka/feeds/stranger.xml",
        "alternate": "https://x.example/kafka/targets/stranger.html",
    }
    entries = made.findall(f"{ATOM}entry")
    assert [(one.findtext(f"{ATOM}title"), one.findtext(f"{ATOM}updated")) for one in entries] == [
        ("2 regressed, 1 newly asked", "2026-01-01T00:01:00+00:00"),
        ("First run run-0", "2025-12-01T00:00:00+00:00"),
    ]
    ids = [made.findtext(f"{ATOM}id"), *(one.findtext(f"{ATOM}id") for one in entries)]
    assert len(set(ids)) == 3
    assert all(name and name.startswith("urn:uuid:") for name in ids)
    words = " ".join("".join(entries[0].itertext()).split())
    assert r"regressed: PROD-001 passed → failed: error_code is 0 \x00 <b>" in words
    assert "run-1 is cut" in words
    assert not (tmp_path / feed("reference")).exists()


def test_feed_without_url_has_relative_links(tmp_path: Path) -> None:
    write_site(small(), GIVEN, tmp_path)
    made = ElementTree.fromstring((tmp_path / feed("stranger")).read_text())
    links = [one.get("href") for one in made.findall(f"{ATOM}link")]
    assert links == ["../feeds/stranger.xml", "../targets/stranger.html"]


@pytest.mark.parametrize(
    ("piece", "address"),
    [
        ('KIP-631 "Controlled Shutdown"', "https://cwiki.apache.org/confluence/dosearchsite.action?where=KAFKA&queryString=KIP-631"),
        ("KAFKA-15583 (3.7)", "https://issues.apache.org/jira/browse/KAFKA-15583"),
        ('Kafka docs 3.8 implementation "Reads"', "https://kafka.apache.org/documentation/#implementation"),
        ('Kafka docs protocol "Network"', "https://kafka.apache.org/protocol"),
        ('Kafka docs broker configs "x.y"', "https://kafka.apache.org/documentation/#brokerconfigs"),
        ("Kafka 4.1.0 message definition FetchRequest, field MaxBytes", "https://github.com/apache/kafka/blob/4.1.0/clients/src/main/resources/common/message/FetchRequest.json"),
        ("Kafka 0.8.2.2 LogTest.testLogRolls, testReadOutOfRange", "https://github.com/search?type=code&q=repo%3Aapache%2Fkafka+LogTest"),
        ("redpanda#3038, kop#1283", "https://github.com/redpanda-data/redpanda/issues/3038"),
        ("kop#1283", "https://github.com/streamnative/kop/issues/1283"),
        ("kfake TestCompactBasic", "https://github.com/twmb/franz-go/tree/master/pkg/kfake"),
        ('also in: "A Guide To The Kafka Protocol"', None),
    ],
)  # fmt: skip
def test_source_leads_to_its_document(piece: str, address: str | None) -> None:
    assert source_links(f"{piece}; KIP-1")[0] == (piece, address)
