"""The checks at depth: all cases and releases, every defect on a real Kafka, software of others.

Each slice takes less than 40 minutes on two cores. ``{seed}`` to ``{last_seed}`` are its own.
"""

from __future__ import annotations

from checks.client_parts import CLIENT_PARTS
from checks.deep_history_parts import HISTORY_PARTS
from checks.defect_parts import DEFECTS, whole_part
from checks.gate_parts import CLIENTS, CONTAINERS, PYTEST, WORKERS
from checks.part import Command, Lane, Part, command
from harness.targets.kafka.migration_plan import Phase
from harness.targets.releases import releases_meant
from labs.defects.seen_on import (
    CLUSTER_SEEN_ON,
    ENDED_JOINED,
    ENDED_JOINED_SEEN_ON,
    JOINED_SEEN_ON,
    KAFKA,
    KAFKA_AUTHORIZED,
    QUORUM,
    QUORUM_SEEN_ON,
)

WAITS = Lane.WAITS
RUN = ("kafka-conformance", "run")
GATE = ("kafka-conformance", "gate")
DIFF = ("kafka-conformance", "diff", "--target", "reference", "--target", KAFKA)
KNOWN = "suites/apache-kafka.profile.toml"
KNOWN_OF_CLUSTERS = "suites/apache-kafka-clusters.profile.toml"
CRASHES = ("python", "-m", "labs.crash_loops", "--seed", "{seed}", "--out", "{out}/crash-loops")
CHANGES = ("python", "-m", "labs.rolling_changes", "--seed", "{seed}", "--out", "{out}/changes")
UPGRADED = (("2.8.2", "3.9.2"), ("3.9.2", "4.4.0"), ("4.0.2", "4.4.0"))
UPGRADES = tuple("..".join(both) for both in UPGRADED)
MIGRATIONS = ("migration", "way-back", "long-way-back")
MIGRATING = "kafka:3.9.2,mode=migrating"
ONE_DISK = ("power-flush-1", "power-flush-10", "power")
DISKS = ("power-one-fenced", "power-one", "power-all")
OTHERS = ("librdkafka-mock", "noida-db", "kfake", "tansu")
"""Brokers of other people, as their files in ``docker/`` are named."""
NEEDS = {"kfake": "go"}
OTHERS_AT_ONCE = "8"
"""Processes that judge one of them: where most of it fails, they wait more than they work."""
SWEPT_AT_ONCE = 3
"""Releases of Kafka in one slice."""
TWO_MODES = ("kafka:3.0.2..3.2.3,mode=kraft", "kafka:3.3.2..3.9.2,mode=zk")
LIKE = ("0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9.2", "4.4.0")
"""The releases that the built-in broker can be like."""
STABLE_ON = ("reference", "kafka:2.8.2", "kafka:3.9.2", "kafka:4.4.0")
STABLE_JOBS = ("1", "4", "8")
STABLE_ROUNDS = 5

MUTATED = (*["reference"] * 16, *["reference,disk"] * 2, *["reference,nodes=3"] * 2)
"""The target of each slice of mutants."""


def options(name: str, values: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """``--name A --name B``."""
    return tuple(word for value in values for word in (name, value))


def swept(*specs: str) -> tuple[Command, ...]:
    """Judge releases of Kafka; they fail as their profile says."""
    run = (*RUN, *options("--target", specs), "--versions", "ends", "--jobs", "2")
    return (Command((*run, "--out", "{out}/releases"), passes_with=(0, 1)),)


def sweep_slices() -> tuple[tuple[Command, ...], ...]:
    """One release of each line, some in a slice, then those with two modes in their other one."""
    releases = [f"kafka:{release}" for release in releases_meant("..")]
    cuts = [releases[at : at + SWEPT_AT_ONCE] for at in range(0, len(releases), SWEPT_AT_ONCE)]
    return tuple(swept(*specs) for specs in [*cuts, *([mode] for mode in TWO_MODES)])


def other(name: str) -> Part:
    """A broker of other people, which fails as its profile says."""
    file, out = f"docker/{name}", f"{{out}}/{name}"
    run = (*RUN, "--target", f"command:{file}.toml", "--jobs", OTHERS_AT_ONCE, "--out", out)
    gate = command(*GATE, out, "--profile", f"{file}.profile.toml")
    return Part(
        name.replace("-", "_"),
        (Command(run, passes_with=(0, 1)), gate),
        lane=WAITS,
        needs=NEEDS.get(name, ""),
        rooms=("suites", "harness", "docker"),
    )


def judged_between(specs: list[str]) -> tuple[Command, ...]:
    """Clusters between two releases or modes; they fail as the profile of clusters says."""
    out = "{out}/between"
    run = (*RUN, "--suite", "replication", *options("--target", specs), "--versions", "ends")
    gate = command(*GATE, out, "--profile", KNOWN_OF_CLUSTERS)
    return (Command((*run, "--jobs", "1", "--out", out), passes_with=(0, 1)), gate)


def agree(name: str, *words: str) -> Part:
    """A slice for each release that the built-in broker can be like: both are judged alike."""
    out = f"{{out}}/{name.replace('_', '-')}"
    run = ("kafka-conformance", "agree", out, *words, "--jobs", "2")
    return Part(
        name,
        sliced=tuple((command(*run, "--release", release),) for release in LIKE),
        lane=WAITS,
        rooms=("suites", "harness"),
    )


def stable_slices() -> tuple[tuple[Command, ...], ...]:
    """All suites some times with each number of test processes: the same verdicts each time."""
    return tuple(
        (
            command(
                *("python", "-m", "checks.same_verdicts", "--target", target),
                *("--jobs", jobs, "--rounds", str(STABLE_ROUNDS), "--out", "{out}/stable"),
            ),
        )
        for target in STABLE_ON
        for jobs in STABLE_JOBS
    )


DEEP = (
    Part(
        "deep_tests",
        (
            command(
                *(*PYTEST, "tests", "--deep", "-p", "checks.case_slice", "--slice", "{slice}"),
                *("--hypothesis-seed", "{seed}", f"--ignore={CONTAINERS}", f"--ignore={CLIENTS}"),
                *(*WORKERS, "2"),
            ),
        ),
        count=4,
    ),
    Part(
        "containers",
        # One process: each has a Docker daemon of its own.
        (command(*PYTEST, CONTAINERS, "--deep"),),
        lane=WAITS,
        rooms=("docker", "harness/targets", "locks", CONTAINERS),
    ),
    Part(
        "clients",
        (
            command("python", "-P", "-m", "labs.clients"),
            command(*PYTEST, CLIENTS, "--deep", *WORKERS, "2"),
        ),
        lane=WAITS,
        needs="go",
        rooms=("harness/reference_broker", "harness/codec", CLIENTS),
    ),
    *CLIENT_PARTS,
    Part(
        "faulted_clients",
        (
            command(
                *("python", "-m", "labs.clients_under_faults", "--out", "{out}/faulted-clients"),
                *("--seeds", "{seed}..{last_seed}"),
            ),
        ),
        count=4,
        seeds=50,
        lane=WAITS,
        rooms=("harness/reference_broker", "harness/proxies", "labs/clients_under_faults"),
    ),
    Part(
        "faulted_clients_kafka",
        (
            command(
                *("python", "-m", "labs.clients_under_faults", "--target", KAFKA),
                *("--seeds", "{seed}..{last_seed}", "--out", "{out}/faulted-clients-kafka"),
            ),
        ),
        seeds=20,
        lane=WAITS,
        rooms=("harness/proxies", "labs/clients_under_faults"),
    ),
    Part(
        "kafka",
        (
            command(
                *(*RUN, "--target", KAFKA, "--target", "by-document", "--jobs", "2"),
                *("--out", "{out}/kafka"),
            ),
            command(*GATE, "{out}/kafka"),
        ),
        lane=WAITS,
        rooms=("suites", "harness"),
    ),
    Part("releases", sliced=sweep_slices(), lane=WAITS, rooms=("suites", "harness")),
    Part(
        "archaeology",
        (
            command(*GATE, "{out}/releases", "--profile", KNOWN),
            command(
                *("kafka-conformance", "archaeology", "{out}/releases"),
                *("--out", "{out}/archaeology"),
            ),
        ),
        after=("releases",),
        rooms=("suites", "harness", "reports"),
    ),
    agree("agree"),
    agree("agree_clusters", "--nodes", "3", "--versions", "ends", "--suite", "replication"),
    whole_part(),
    Part(
        "defects_alone",
        (
            command(*DEFECTS, "--target", "reference", "--on-the-wire", "--slice", "{slice}",
                    "--jobs", "4"),
            command(*DEFECTS, "--target", JOINED_SEEN_ON, "--joined", "--slice", "{slice}",
                    "--jobs", "4"),
            command("python", "-m", "labs.defects", "--target", "reference", "--built-in",
                    "--out", "{out}/built-in", "--slice", "{slice}", "--jobs", "4"),
        ),
        count=4,
        rooms=("suites", "harness", "labs/defects"),
    ),
    Part(
        "defects_kafka",
        (command(*DEFECTS, "--target", KAFKA, "--slice", "{slice}"),),
        count=12,
        lane=WAITS,
        rooms=("suites", "harness", "labs/defects"),
    ),
    Part(
        "defects_others",
        (
            command(*DEFECTS, "--target", ENDED_JOINED_SEEN_ON,
                    *options("--requirement", list(ENDED_JOINED))),
            command(*DEFECTS, "--target", QUORUM_SEEN_ON, "--jobs", "1",
                    *options("--requirement", list(QUORUM))),
            command(*DEFECTS, "--target", KAFKA_AUTHORIZED, "--requirement", "AUTHZ-*"),
        ),
        lane=WAITS,
        rooms=("suites", "harness", "labs/defects"),
    ),
    Part(
        "cluster_defects_alone",
        (command(*DEFECTS, "--target", CLUSTER_SEEN_ON, "--slice", "{slice}", "--jobs", "2"),),
        count=2,
        lane=WAITS,
        rooms=("suites", "harness", "labs/defects"),
    ),
    Part(
        "cluster_defects_kafka",
        (
            command(*DEFECTS, "--target", f"{KAFKA},nodes=3", "--slice", "{slice}",
                    "--jobs", "1"),
        ),
        count=6,
        lane=WAITS,
        rooms=("suites", "harness", "labs/defects"),
    ),
    Part(
        "cluster",
        (
            command(*PYTEST, "suites", "--target", "reference,nodes=3", *("-n", "2"),
                    "--out", "{out}/cluster"),
            command(*GATE, "{out}/cluster"),
            command("kafka-conformance", "timeline", "reference,nodes=1", KAFKA, "kafka:0.8.2.2"),
        ),
        lane=WAITS,
        rooms=("suites", "harness"),
    ),
    *(other(name) for name in OTHERS),
    Part(
        "groups",
        (
            command(
                *("python", "-m", "labs.group_model", "--target", "reference"),
                *("--target", KAFKA, "--examples", "100", "--seed", "{seed}"),
            ),
        ),
        lane=WAITS,
        rooms=("harness/reference_broker", "labs/group_model"),
    ),
    Part(
        "recovery",
        (
            command(
                *("python", "-m", "labs.recovery", "--damages", "500", "--of", "2500"),
                *("--seed", "{seed}", "--left", KAFKA, "--right", "reference,disk"),
                *("--out", "{out}/recovery"),
            ),
        ),
        count=4,
        lane=WAITS,
        rooms=("harness/reference_broker/storage", "labs/recovery"),
    ),
    Part(
        "crash_loops",
        sliced=tuple(
            (command(*CRASHES, "--target", target, "--rounds", rounds,
                     *options("--case", cases)),)
            for target, rounds, cases in (
                (KAFKA, "20", ()),
                (f"{KAFKA},nodes=3", "5", ()),
                (KAFKA, "20", ONE_DISK),
                (f"{KAFKA},nodes=3", "10", DISKS),
                ("reference,disk", "200", ()),
                ("reference,disk", "20", ONE_DISK),
                ("reference,nodes=3", "10", ("kill-one", "kill-all", *DISKS)),
            )
        ),
        lane=WAITS,
        rooms=("harness/reference_broker/storage", "harness/power_loss", "labs/crash_loops"),
    ),
    *HISTORY_PARTS,
    Part(
        "rolling_changes",
        sliced=(
            (command(*CHANGES, *options("--upgrade", UPGRADES)),),
            (command(*CHANGES, *options("--migration", MIGRATIONS)),),
            judged_between([f"kafka:{old},with={new},nodes=3" for old, new in UPGRADED]),
            judged_between([f"{MIGRATING},phase={phase.value},nodes=3" for phase in Phase]),
        ),
        lane=WAITS,
        rooms=("harness/targets", "labs/rolling_changes", "suites/replication"),
    ),
    Part(
        "power_model",
        sliced=tuple(
            (command("python", "-m", "labs.power_model", "--rounds", "100", "--seed", "{seed}",
                     "--names", names),)
            for names in ("journal", "folders")
        ),
        seeds=100,
        rooms=("harness/reference_broker/storage", "labs/power_model"),
    ),
    Part(
        "replication",
        (
            command("python", "-m", "labs.replication_model", "--steps", "1000000",
                    "--seed", "{seed}"),
        ),
        rooms=("harness/reference_broker/state", "labs/replication_model"),
    ),
    Part(
        "transaction_model",
        (
            command("python", "-m", "labs.transaction_model", "--examples", "5000",
                    "--seed", "{seed}"),
        ),
        rooms=("harness/reference_broker/state", "labs/transaction_model"),
    ),
    Part(
        "differential",
        (command(*DIFF, "--seed", "{seed}", "--exchanges", "5000", "--out", "{out}/differential"),),
        count=2,
        lane=WAITS,
        rooms=("harness/reference_broker", "harness/differential", "harness/codec"),
    ),
    Part(
        "fuzz",
        (command("python", "-m", "labs.fuzz", "--minutes", "10", "--seed", "{seed}"),),
        count=6,
        rooms=("harness", "labs/fuzz"),
    ),
    Part(
        "mutate",
        sliced=tuple(
            (
                command("kafka-conformance", "lab", "mutate", "--target", spec, "--count", "100",
                        "--seed", "{seed}", "--out", "{out}/mutants.jsonl"),
            )
            for spec in MUTATED
        ),
        lane=WAITS,
        rooms=("suites", "harness/reference_broker", "labs/mutation"),
    ),
    Part(
        "response_fields",
        (
            command("kafka-conformance", "lab", "mutate", "--fields", "--count", "140",
                    "--seed", "{seed}", "--out", "{out}/fields.jsonl"),
        ),
        count=6,
        lane=WAITS,
        rooms=("suites", "harness/reference_broker", "labs/mutation"),
    ),
    Part("stable", sliced=stable_slices(), lane=WAITS, rooms=("suites", "harness")),
)  # fmt: skip
