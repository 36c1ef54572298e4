"""``kafka-conformance lab record-responses``: record conversations with an Apache Kafka."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import filterfalse
from pathlib import Path
from zlib import crc32

import click

from harness.base.address import Address
from harness.base.own_names import case_prefix, new_nonce
from harness.client.placeholder_versions import served_ranges
from harness.codec.versions import VersionRange
from harness.differential.conversation import Conversation
from harness.differential.difference import differences
from harness.differential.explained import judged, load_explained
from harness.differential.generator import Ranges, conversations, shared_versions
from harness.differential.player import PlayedAnswer, Player, answer_limit_ms
from harness.oracle.own_objects import names_group_of_all
from harness.oracle.recorded import (
    RecordedConversation,
    recorded_of,
    recorded_releases,
    write_recorded,
)
from harness.oracle.specification import Specification
from harness.oracle.subjects import SUBJECTS, client_id_of, companions_of
from harness.targets.asking import ask_api_versions
from harness.targets.info import TargetInfo, probe
from harness.targets.reference import QUICK
from harness.targets.spec import parse_target

PLAYS = 3
"""A conversation is recorded if so many plays of it have the same responses."""
_BEHIND_NOW_MS = 60_000


@click.command()
@click.option("--release", required=True, help="Of Apache Kafka, as 4.4.0.")
@click.option("--seed", default=1, show_default=True)
@click.option("--exchanges", default=300, show_default=True, type=click.IntRange(1),
              help="For each API, and the rest of a conversation that is begun.")  # fmt: skip
@click.option("--api", "names", multiple=True, type=click.Choice(SUBJECTS), metavar="NAME",
              help="Only this API's conversations; the others stay. May be repeated.")  # fmt: skip
def main(release: str, seed: int, exchanges: int, names: tuple[str, ...]) -> None:
    """Record conversations with a release of Apache Kafka, as the expected ones of the suites.

    Each conversation is played several times; one with responses that vary is left out.
    """
    known = recorded_of(release) if names and release in recorded_releases() else {}
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-record-") as logs, ExitStack() as up:
        info = probe(up.enter_context(parse_target(f"kafka:{release}", log_dir=Path(logs))))
        recorder = ConversationRecorder(up, info, _both_serve(up, info, release))
        found = {api: tuple(recorder.about(api, seed, exchanges)) for api in names or SUBJECTS}
    whole = [one for api in SUBJECTS for one in found.get(api, known.get(api, ()))]
    click.echo(f"{write_recorded(release, whole)}: {len(whole)} conversations")


def _both_serve(up: ExitStack, info: TargetInfo, release: str) -> Ranges:
    """Return the APIs and versions that the built-in broker like the release serves too."""
    specification = up.enter_context(Specification(release, QUICK))
    pairs = ask_api_versions(specification.address, int(answer_limit_ms(1.0)))
    return shared_versions(_ranges(info.api_versions), _ranges(pairs))


def _ranges(pairs: Mapping[int, tuple[int, int]]) -> dict[int, VersionRange]:
    return served_ranges({key: VersionRange(*pair) for key, pair in pairs.items()})


class ConversationRecorder:
    """Plays conversations at one broker, and keeps those with the same responses each time."""

    def __init__(self, up: ExitStack, info: TargetInfo, shared: Ranges) -> None:
        self._prefix = case_prefix(info.name_prefix, new_nonce(), "record")
        self._shared, self._plays = shared, 0
        served, limit_ms = _ranges(info.api_versions), answer_limit_ms(info.time_scale)
        address = Address(*info.addresses[0])
        player = Player(info.spec, address, served, limit_ms, self._prefix)
        self._player = up.enter_context(player)

    def about(self, api: str, seed: int, exchanges: int) -> Iterator[RecordedConversation]:
        """Yield conversations about an API."""
        if api not in self._shared:
            return
        self._player.client_id = client_id_of(api)
        drawn = crc32(f"{seed} {api}".encode())
        only = [api, *companions_of(api)]
        left, dropped = exchanges, 0
        drawn_ones = conversations(drawn, self._shared, only, about=api)
        for one in filterfalse(names_group_of_all, drawn_ones):
            named = Conversation(f"{api}: {one.origin}", one.steps)
            responses = self._same_responses(named)
            if responses is None:
                dropped += 1
            else:
                yield RecordedConversation(api, named, tuple(a.compared for a in responses))
                left -= len(one.steps)
            if left <= 0 or dropped > exchanges:
                break
        click.echo(f"{api}: {exchanges - left} exchanges; {dropped} conversations vary")

    def _same_responses(self, conversation: Conversation) -> list[PlayedAnswer] | None:
        first = self._play(conversation)
        if all(self._are_same(conversation, first) for _ in range(PLAYS - 1)):
            return first
        return None

    def _are_same(self, conversation: Conversation, first: list[PlayedAnswer]) -> bool:
        steps, specs = conversation.steps, (self._player.spec, self._player.spec)
        found = differences(steps, first, self._play(conversation))
        verdict = judged(found, load_explained(), steps, specs, Counter())
        return verdict.found is None and verdict.compared == len(steps)

    def _play(self, conversation: Conversation) -> list[PlayedAnswer]:
        self._plays += 1
        base_ms = int(time.time() * 1000) - _BEHIND_NOW_MS
        return self._player.play(
            conversation, f"{self._prefix}-{self._plays}", base_ms, patient=True
        )


if __name__ == "__main__":
    main()
