"""Target strings of real Kafka: ``kafka:RELEASE[,mode=zk|kraft][,with=NEWER][,nodes=N]...``."""

from __future__ import annotations

from collections.abc import Mapping

from harness.targets.errors import TargetError
from harness.targets.kafka.jvm import AS_SHIPPED, HEAP, QUICK
from harness.targets.kafka.migration_plan import MIGRATING, read_phase
from harness.targets.kafka.release import LATEST
from harness.targets.kafka.rolling_upgrade import (
    RollingUpgrade,
    read_upgraded,
    usually_upgraded,
)
from harness.targets.kafka.target import KafkaTarget
from harness.targets.kind import Making, TargetKind, refuse_words, settings_among
from harness.targets.migrating import MigratingKafka
from harness.targets.options import split_options
from harness.targets.releases import RANGE, releases_meant
from harness.targets.run_security import AUTHORIZER_OPTIONS, wanted_security
from harness.targets.run_security import OPTIONS as SECURITY_OPTIONS
from harness.targets.secured_kafka import SecuredKafka

_OPTIONS = {
    "mode": "zk or kraft; default: kraft from 3.3 on, zk before; migrating from 3.6 to 3.9",
    "phase": "with mode=migrating how far it is: zookeeper, dual-write, kraft-brokers, finalized "
    "or rolled-back",
    "nodes": "how many brokers; default 1",
    "controllers": "how many nodes that are controllers and no brokers, with kraft and several "
    "brokers; default 1",
    "with": "a newer release that some of the nodes run, as in the middle of a rolling upgrade; "
    "the cluster stays at the level of the older one",
    "upgraded": "the ids of the nodes that run it, such as 3 or 2+100; default: the last brokers, "
    "half of them rounded down",
    "heap": f"of each Kafka process, such as 512m; default {HEAP}",
    "jvm": f"{QUICK} to start, the default, or {AS_SHIPPED}: tuned as Kafka's own scripts do it",
    **SECURITY_OPTIONS,
    **AUTHORIZER_OPTIONS,
    "set.NAME": "a setting of every broker, by Kafka's name",
}


def _targets(rest: str | None, making: Making) -> list[KafkaTarget]:
    """All that is meant: one, or one for each release of a range. Raises TargetError."""
    known = [name.replace("NAME", "") for name in _OPTIONS]
    words, options = split_options(rest or "", known)
    word = words[0] if words else ""
    if not word:
        raise TargetError(f"a release is missing: one that is pinned, {LATEST}, or a range")
    refuse_words(words[1:], f"kafka:{word}")
    return [_target(release, options, making) for release in releases_meant(word)]


def _target(release: str, options: Mapping[str, str], making: Making) -> KafkaTarget:
    if options.get("mode") == MIGRATING:
        return _migrating(release, options, making)
    if "phase" in options:
        raise TargetError(f"phase={options['phase']}: only mode={MIGRATING} has phases")
    nodes = _number(options, "nodes", "brokers")
    if options.keys() & {*SECURITY_OPTIONS, *AUTHORIZER_OPTIONS}:
        return _secured(release, options, making)
    return KafkaTarget(
        release,
        mode=options.get("mode"),
        nodes=nodes,
        controllers=_number(options, "controllers", "controllers"),
        heap=options.get("heap", HEAP),
        jvm=options.get("jvm", QUICK),
        settings=settings_among(options),
        log_dir=making.log_dir,
        progress=making.progress,
        upgrade=_upgrade(options, nodes),
    )


def _secured(release: str, options: Mapping[str, str], making: Making) -> KafkaTarget:
    wanted = wanted_security(options)
    assert wanted is not None, "the options have a protocol, or it raises"
    for name in ("controllers", "with", "upgraded"):
        if name in options:
            given = "security" if "security" in options else "authorizer"
            raise TargetError(f"{given}= and {name}= exclude each other")
    return SecuredKafka(
        release,
        wanted,
        mode=options.get("mode"),
        nodes=_number(options, "nodes", "brokers"),
        heap=options.get("heap", HEAP),
        jvm=options.get("jvm", QUICK),
        settings=settings_among(options),
        log_dir=making.log_dir,
        progress=making.progress,
    )


def _migrating(release: str, options: Mapping[str, str], making: Making) -> MigratingKafka:
    if "with" in options:
        raise TargetError(f"with={options['with']}: all nodes of a migration are of one release")
    if "phase" not in options:
        raise TargetError(f"mode={MIGRATING}: phase=PHASE is missing, {_OPTIONS['phase']}")
    return MigratingKafka(
        release,
        read_phase(options["phase"]),
        nodes=_number(options, "nodes", "brokers"),
        controllers=_number(options, "controllers", "controllers"),
        heap=options.get("heap", HEAP),
        jvm=options.get("jvm", QUICK),
        settings=settings_among(options),
        log_dir=making.log_dir,
        progress=making.progress,
    )


def _upgrade(options: Mapping[str, str], nodes: int) -> RollingUpgrade | None:
    upgraded, newer = options.get("upgraded"), options.get("with")
    if newer is None:
        if upgraded is not None:
            missing = "with=RELEASE is missing, the release of these nodes"
            raise TargetError(f"upgraded={upgraded}: {missing}")
        return None
    if RANGE in newer:
        raise TargetError(f"with={newer}: must be one release; the older one may be a range")
    (release,) = releases_meant(newer)
    return RollingUpgrade(release, read_upgraded(upgraded) if upgraded else usually_upgraded(nodes))


def _number(options: Mapping[str, str], name: str, of: str) -> int:
    text = options.get(name, "1")
    if not text.isdecimal() or len(text) > 3:
        raise TargetError(f"{name}={text}: must be a number of {of}")
    return int(text)


def _make(rest: str | None, making: Making) -> KafkaTarget:
    targets = _targets(rest, making)
    if len(targets) > 1:
        raise TargetError(
            f"the range means {len(targets)} targets, and here is room for one: name a release, "
            f"such as {targets[-1].spec}"
        )
    return targets[0]


def _expand(rest: str | None) -> list[str]:
    return [target.spec for target in _targets(rest, Making())]


KIND = TargetKind(
    name="kafka",
    form="kafka:RELEASE[,mode=zk|kraft|migrating,phase=PHASE][,with=NEWER[,upgraded=IDS]]"
    "[,security=PROTOCOL[,mechanism=MECHANISM]][,authorizer=on]"
    "[,nodes=N][,controllers=N][,heap=256m][,jvm=kafka][,set.NAME=VALUE...]",
    example="kafka:4.4.0",
    meaning="a released Apache Kafka, downloaded once and run as local processes; RELEASE may be "
    "latest, or for a run a range, A..B, A.. or ..B: within a minor line every release, over "
    "several one of each",
    capabilities=KafkaTarget.capabilities,
    make=_make,
    options=_OPTIONS,
    expand=_expand,
)
