"""Parts, slices and their seeds; which of them a command line names."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from checks.deep_parts import DEEP
from checks.draw import FRACTIONS, ROTATING, Draw
from checks.gate_parts import GATE
from checks.named_slices import UnknownPart, named_slices
from checks.part import Part, Slice, command

DRAW = Draw("a commit")
SEEDED = Part(
    "seeded", (command("x", "{seed}..{last_seed}", "{slice}", "{out}"),), count=3, seeds=5
)
SLICED = Part("sliced", sliced=((command("first"),), (command("second", "{draw}"),)))
PLAIN = Part("plain", (command("x", "{release}"),))
PARTS = (SEEDED, SLICED, PLAIN)


def words(one: Slice) -> list[tuple[str, ...]]:
    return [found.words for found in one.commands(DRAW, "results/x")]


def test_slices_of_part_have_disjoint_seeds() -> None:
    seeds = [seed for number in (1, 2, 3) for seed in Slice(SEEDED, number).seeds(DRAW)]
    assert len(set(seeds)) == len(seeds) == 15


def test_command_placeholders_are_filled() -> None:
    first = DRAW.number + 5
    assert words(Slice(SEEDED, 2)) == [("x", f"{first}..{first + 4}", "2/3", "results/x")]
    assert words(Slice(SLICED, 1)) == [("first",)]
    assert words(Slice(SLICED, 2)) == [("second", "a commit")]


def test_different_words_draw_different_seeds_releases_and_parts() -> None:
    draws = [Draw(str(number)) for number in range(200)]
    assert len({draw.number for draw in draws}) > 190
    assert {draw.release for draw in draws} == set(ROTATING)
    for name, count in FRACTIONS.items():
        parts = {f"{number}/{count}" for number in range(1, count + 1)}
        assert {draw.fraction(name) for draw in draws} == parts
    assert (DRAW.fraction("half"), DRAW.fraction("eighth")) == ("2/2", "3/8")
    assert Draw("7").places == Draw("7").places


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ((), ["seeded:1/3", "seeded:2/3", "seeded:3/3", "sliced:1/2", "sliced:2/2", "plain"]),
        (("seeded:2/3",), ["seeded:2/3"]),
        (("plain", "sliced"), ["sliced:1/2", "sliced:2/2", "plain"]),
    ],
)
def test_named_slices_selects_parts_and_slices(names: tuple[str, ...], found: list[str]) -> None:
    assert [one.name for one in named_slices(PARTS, names)] == found


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("fuss", "no part 'fuss'; there are: seeded, sliced, plain"),
        ("seeded:4/3", "no slice 'seeded:4/3'; there are seeded:1/3 and so on"),
        ("seeded:1/8", "no slice 'seeded:1/8'; there are seeded:1/3 and so on"),
        ("plain:1/1", "no slice 'plain:1/1': the part plain has no slices"),
    ],
)
def test_unknown_part_or_slice_is_refused(name: str, problem: str) -> None:
    with pytest.raises(UnknownPart, match=re.escape(problem)):
        named_slices(PARTS, [name])


@pytest.mark.parametrize("parts", [GATE, DEEP], ids=["gate", "deep"])
def test_part_tables_have_unique_names_and_known_predecessors(parts: Sequence[Part]) -> None:
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert [name for part in parts for name in part.after if name not in names] == []
    for one in named_slices(parts, ()):
        for found in one.commands(DRAW, "results/x"):
            assert not re.search(r"[{}]", " ".join(found.words))


def test_deep_slices_sweep_every_release_once() -> None:
    from harness.targets.releases import releases_meant

    swept = [word for one in named_slices(DEEP, ("releases",)) for line in words(one)
             for word in line if re.fullmatch(r"kafka:[\d.]+", word)]  # fmt: skip
    assert swept == [f"kafka:{release}" for release in releases_meant("..")]
