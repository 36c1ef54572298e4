"""Partitioners and range assignment against the official classes."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from harness.historical.partitioners import java_string_hash, murmur2, partition_by_murmur2
from harness.historical.range_assignment import range_assignment
from harness.targets.artifacts import fetch, pinned_artifacts
from harness.targets.java import JavaError, find_java
from harness.targets.pinned_file import DownloadError
from tests.targets.kinds import not_run

RELEASE = "2.8.2"
PROGRAM = Path(__file__).with_name("Algorithms.java")
NEEDED = ("kafka-clients", "slf4j-api")
TEXTS = ("", "a", "ab", "abc", "kafka", "é€", "\U0001f600", "polygenelubricants", "foobar")
LARGEST_INT32 = 2**31 - 1


def _ask(lines: list[str]) -> list[str]:
    """The program's answers, one a line."""
    try:
        jars = fetch(one for one in pinned_artifacts()[RELEASE] if one.artifact in NEEDED)
        command = [str(find_java().executable), "-Dfile.encoding=UTF-8"]
    except (JavaError, DownloadError) as problem:
        not_run(str(problem))
        raise AssertionError("not reached") from problem
    done = subprocess.run(
        [*command, "-cp", os.pathsep.join(map(str, jars)), str(PROGRAM)],
        input="".join(f"{line}\n" for line in lines),
        encoding="utf-8",
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.splitlines()


def _random_texts(count: int) -> list[str]:
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789-_.éß€"
    return ["".join(chance.choices(letters, k=chance.randrange(40))) for _ in range(count)]


@pytest.mark.kafka
@pytest.mark.deep
def test_hashes_and_range_assignments_equal_official_classes() -> None:
    texts = [*TEXTS, *_random_texts(500)]
    sizes = [(partitions, members) for partitions in range(1, 26) for members in range(1, 9)]
    names = [[f"c{at}" for at in range(members)] for _, members in sizes]
    asked = [f"hash\t{text}" for text in texts]
    asked += [
        "\t".join(["range", str(size[0]), *ids]) for size, ids in zip(sizes, names, strict=True)
    ]
    answers = _ask(asked)
    assert len(answers) == len(asked)
    for text, answer in zip(texts, answers, strict=False):
        data = text.encode()
        ours = (
            java_string_hash(text),
            murmur2(data),
            partition_by_murmur2(data, LARGEST_INT32 + 1),
        )
        assert answer == " ".join(map(str, ours)), text
    for (partitions, _), ids, answer in zip(sizes, names, answers[len(texts) :], strict=True):
        found = range_assignment(range(partitions), ids)
        told = "\t".join(" ".join([one, *map(str, found[one])]) for one in ids)
        assert answer == told
