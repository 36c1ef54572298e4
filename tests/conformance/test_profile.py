from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from harness.base.bundle import suites_root
from harness.conformance.catalogue import load_catalogue
from harness.conformance.journal import read_journal
from harness.conformance.kafka_name import kafka_range, plain_targets
from harness.conformance.profile import (
    Profile,
    ProfileError,
    draft_profile,
    load_profile,
    target_matches,
)
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, header, write_run

BOTH = ("3.9.2", "4.4.0")
ENTRY = '[[known_failure]]\nrequirement = "PROD-011"\nreason = "crc"\n'


def load(tmp_path: Path, text: str, version: str = "profile_version = 1") -> Profile:
    path = tmp_path / "profile.toml"
    path.write_text(f"{version}\n{text}", encoding="utf-8")
    return load_profile(path, load_catalogue())


def test_profile_with_all_keys_is_loaded(tmp_path: Path) -> None:
    text = """
        [[known_failure]]
        requirement = "PROD-011"
        reason = "checked on the follower only"
        target = "external:*"
        link = "https://example.org/issues/77"
        expires = 2027-01-31
        matches = "CORRUPT_MESSAGE"
        [[present]]
        requirements = ["PROD-011", "APIV-001"]
        """
    profile = load(tmp_path, text)
    (entry,) = profile.known_failures
    assert (entry.requirement, entry.target) == ("PROD-011", "external:*")
    assert entry.link == "https://example.org/issues/77"
    assert entry.expires == date(2027, 1, 31)
    assert entry.matches is not None
    assert entry.matches.search("got CORRUPT_MESSAGE (2)")
    assert profile.present_of("anything") == ("APIV-001", "PROD-011")
    assert profile.known_failures_of("external:host:9092") == {"PROD-011": entry}
    assert profile.known_failures_of("reference") == {}
    assert profile.patterns() == ("external:*", "*")


def test_entry_expires_after_its_last_day(tmp_path: Path) -> None:
    (entry,) = load(tmp_path, ENTRY + "expires = 2027-01-31").known_failures
    assert not entry.expired(date(2027, 1, 31))
    assert entry.expired(date(2027, 2, 1))
    (endless,) = load(tmp_path, ENTRY).known_failures
    assert not endless.expired(date(9999, 1, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[known_failures]]\nrequirement = "X"', r'known_failures: unknown key.*"known_failure"'),
        (ENTRY + "expire = 2027-01-31", r'\(PROD-011\): expire: unknown key.*"expires"'),
        (ENTRY.replace("PROD-011", "PROD-11"), r'"PROD-11" is not in.*mean "PROD-011"'),
        (ENTRY.replace('reason = "crc"', ""), r"\(PROD-011\): reason: is missing"),
        (ENTRY.replace("crc", " "), r"reason: ' ' is not a non-empty string"),
        (ENTRY.replace("PROD-011", "FETCH-013"), r"is a MAY, which never fails"),
        (ENTRY + 'expires = "2027-01-31"', r"expires: '2027-01-31' is not a date; write it bare"),
        (ENTRY + "expires = 2027-01-31T00:00:00Z", r"expires: .* is not a date"),
        (ENTRY + 'link = "issue 7"', r"link: .*form"),
        (ENTRY + 'matches = "("', r"matches: is no regular expression"),
        (ENTRY + ENTRY, r'PROD-011 occurs twice for target "\*"'),
        (ENTRY + ENTRY + 'target = "reference"', r"contradictory: one entry is for every target"),
        (ENTRY + 'target = "kafka:0.8.0..trunk"', r'target: "trunk" is no release; .*like'),
        (ENTRY + 'target = "kafka:..4.0.2"', r'target: "" is no release'),
        (ENTRY + 'target = "kafka:4.0.2..3.9.2"', r"runs backwards; write 3\.9\.2\.\.4\.0\.2"),
        (ENTRY + 'target = "kafka:3.3.2..3.9.2,mode=raft"', r'mode "raft" is none of zk, kraft'),
        (ENTRY + 'reason = "again"', r"profile\.toml: is not TOML"),
        ('known_failure = "PROD-011"', r"known_failure: is not an array of tables"),
        ('[known_failure]\nPROD-011 = "crc"', r"known_failure: is not an array of tables"),
        ("[[present]]\nrequirements = []", r"present number 1: requirements: is missing or empty"),
        ('[[present]]\nrequirements = ["PROD-11"]', r'present number 1: .*mean "PROD-011"'),
        ('[[present]]\nrequirements = ["PROD-011", "PROD-011"]', r'"PROD-011" occurs twice'),
        ('[[present]]\nrequirements = ["PROD-011"]\n' * 2, r'target "\*" occurs twice'),
    ],
)
def test_invalid_profile_raises_profile_error_with_key(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ProfileError, match=message) as caught:
        load(tmp_path, text)
    assert "profile.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("", "profile_version: must be 1, is None"),
        ("profile_version = 2", "must be 1, is 2"),
        ("profile_version = true", "must be 1, is True"),
    ],
)
def test_missing_or_wrong_profile_version_raises_profile_error(
    tmp_path: Path, version: str, message: str
) -> None:
    with pytest.raises(ProfileError, match=message):
        load(tmp_path, ENTRY, version)


def test_missing_profile_file_raises_profile_error(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"none\.toml: cannot be read"):
        load_profile(tmp_path / "none.toml", load_catalogue())


def test_patterns_that_match_same_target_raise_profile_error(tmp_path: Path) -> None:
    both = ENTRY + 'target = "kafka:4.*"\n' + ENTRY + 'target = "kafka:*.0"'
    profile = load(tmp_path, both)
    assert set(profile.known_failures_of("kafka:4.1.1")) == {"PROD-011"}
    with pytest.raises(ProfileError, match=r"PROD-011 of kafka:4\.4\.0.*keep one"):
        profile.known_failures_of("kafka:4.4.0")


def test_target_with_brackets_matches_itself_literally() -> None:
    assert target_matches("external:[::1]:9092", "external:[::1]:9092")
    assert target_matches("external:[::1]:9092", "external:*")
    assert not target_matches("reference", "external:*")


def a_run(folder: Path, target: str) -> RunSummary:
    checks = [
        check("PROD-011", Verdict.FAILED, reason='got "2"\x1b\nat offset 3'),
        check("PROD-012"),
        check("PROD-013", Verdict.NOT_SUPPORTED),
    ]
    return summarize(read_journal(write_run(folder, checks, about=header(target, target))))


def test_draft_profile_of_one_target_applies_to_every_target(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(draft_profile([a_run(tmp_path, "one")]), encoding="utf-8")
    profile = load_profile(path, load_catalogue())
    (entry,) = profile.known_failures
    assert (entry.requirement, entry.target) == ("PROD-011", "*")
    assert entry.reason == 'seen in run one: got "2"\x1b'
    assert entry.matches is not None
    assert entry.matches.search('got "3"\x1b')
    assert not entry.matches.search("timeout")
    assert profile.present_of("any") == ("PROD-011", "PROD-012")


def test_draft_profile_contains_warnings_only_if_strict(tmp_path: Path) -> None:
    warned = check("APIV-013", Verdict.WARNING, level="SHOULD", reason="no software name")
    run = summarize(read_journal(write_run(tmp_path, [warned], about=header("one"))))
    assert "known_failure" not in draft_profile([run])
    (entry,) = load(tmp_path, draft_profile([run], strict=True), version="").known_failures
    assert (entry.requirement, entry.reason) == (
        "APIV-013",
        "seen in run one: no software name",
    )


def test_draft_profile_of_several_targets_has_entry_per_target(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(draft_profile([a_run(tmp_path, "two"), a_run(tmp_path, "one")]), "utf-8")
    profile = load_profile(path, load_catalogue())
    assert [entry.target for entry in profile.known_failures] == ["one", "two"]
    assert [entry.target for entry in profile.present] == ["one", "two"]


def test_draft_profile_without_runs_is_empty_profile(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(draft_profile([]), "utf-8")
    assert load_profile(path, load_catalogue()) == Profile()


@pytest.mark.parametrize(
    ("pattern", "meant", "not_meant"),
    [
        (
            "kafka:0.8.0..0.9.0.1",
            ["kafka:0.8.0", "kafka:0.8.2.2", "kafka:0.9.0.1", "kafka:0.9.0.1,heap=512m"],
            ["kafka:0.7.2", "kafka:0.10.0.1", "reference", "kafka:trunk", "kafka:0.9.0.1.1"],
        ),
        (
            "kafka:2.8.2..3.9.2",
            ["kafka:2.8.2,mode=zk", "kafka:3.0.2", "kafka:3.9.2,nodes=3,mode=kraft"],
            ["kafka:2.7.2", "kafka:3.10.0", "docker:apache/kafka:3.9.2"],
        ),
        (  # what a release runs with when nothing is said
            "kafka:2.8.2..3.9.2,mode=zk",
            ["kafka:2.8.2", "kafka:3.2.3", "kafka:3.9.2,mode=zk", "kafka:3.9.2,nodes=3,mode=zk"],
            ["kafka:2.8.2,mode=kraft", "kafka:3.3.2", "kafka:3.9.2"],
        ),
        ("kafka:2.8.2..3.9.2,mode=kraft", ["kafka:2.8.2,mode=kraft"], ["kafka:3.2.3"]),
        ("kafka:4.0.2..4.4.0,nodes=3", ["kafka:4.0.2,nodes=3"], ["kafka:4.0.2"]),
        ("kafka:4.4.0..4.4.0", ["kafka:4.4.0"], ["kafka:4.3.1"]),
        ("kafka:4.*", ["kafka:4.4.0", "kafka:4.4.0,nodes=3"], ["kafka:3.9.2"]),
    ],
)  # fmt: skip
def test_release_range_matches_targets_of_its_releases(
    pattern: str, meant: list[str], not_meant: list[str]
) -> None:
    named = [*meant, *not_meant]
    assert [target for target in named if target_matches(target, pattern)] == meant


def test_overlapping_ranges_of_same_requirement_raise_profile_error(tmp_path: Path) -> None:
    both = ENTRY + 'target = "kafka:2.0.1..2.8.2"\n' + ENTRY + 'target = "kafka:2.8.2..3.9.2"'
    profile = load(tmp_path, both)
    assert set(profile.known_failures_of("kafka:3.0.2")) == {"PROD-011"}
    with pytest.raises(ProfileError, match=r"PROD-011 of kafka:2\.8\.2.*keep one"):
        profile.known_failures_of("kafka:2.8.2")


def test_cluster_of_two_releases_has_known_failures_of_both(tmp_path: Path) -> None:
    entries = "".join(
        f'{ENTRY.replace("PROD-011", requirement)}target = "kafka:{releases}"\n'
        for requirement, releases in (
            ("PROD-011", "2.8.2..2.8.2,mode=zk"),
            ("PROD-011", "3.9.2..3.9.2"),
            ("CONN-001", "3.8.1..4.4.0,mode=zk"),
            ("APIV-001", "3.8.1..4.4.0,mode=kraft"),
        )
    )
    profile = load(tmp_path, entries)
    known = profile.known_failures_of("kafka:2.8.2,with=3.9.2,nodes=3,upgraded=2+3")
    assert {name: entry.target for name, entry in known.items()} == {
        "PROD-011": "kafka:2.8.2..2.8.2,mode=zk",
        "CONN-001": "kafka:3.8.1..4.4.0,mode=zk",
    }


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("kafka:2.8.2,with=3.9.2,nodes=3", ["kafka:2.8.2,nodes=3", "kafka:3.9.2,mode=zk,nodes=3"]),
        ("kafka:3.9.2,with=4.4.0,nodes=3,upgraded=2", [f"kafka:{one},nodes=3" for one in BOTH]),
        ("kafka:3.9.2,mode=migrating,phase=rolled-back", ["kafka:3.9.2,mode=zk"]),
        ("kafka:3.9.2,mode=migrating,phase=kraft-brokers,nodes=3", ["kafka:3.9.2,nodes=3"]),
        ("kafka:3.9.2,mode=migrating,phase=dual-write,nodes=3", []),
        ("kafka:3.9.2,nodes=3", []),
        ("reference,nodes=3", []),
    ],
)  # fmt: skip
def test_plain_targets_of_target_between_releases_or_modes(target: str, meant: list[str]) -> None:
    assert plain_targets(target) == meant


def test_profile_without_entries_is_valid(tmp_path: Path) -> None:
    assert load(tmp_path, "") == Profile()


def test_apache_kafka_profile_entries_have_links_and_release_ranges() -> None:
    file = suites_root() / "suites" / "apache-kafka.profile.toml"
    profile = load_profile(file, load_catalogue())
    assert profile.present == ()
    assert [entry for entry in profile.known_failures if not entry.link] == []
    assert [entry for entry in profile.known_failures if kafka_range(entry.target) is None] == []
