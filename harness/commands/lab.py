"""``kafka-conformance lab``: the programs of a source tree that prove the suites and the broker."""

from __future__ import annotations

from importlib.util import find_spec

import click

from harness.commands.lazy_group import LazyGroup

_LABS = {
    "defects": ("labs.defects.__main__", "Judge known wrong brokers: each must be noticed."),
    "mutate": ("labs.mutation.__main__", "Judge wrong brokers that are made from the source."),
    "record-responses": (
        "labs.recorded_responses.__main__",
        "Record conversations with an Apache Kafka.",
    ),
    "null-forms": ("labs.null_forms.__main__", "Observe the nullable fields of Apache Kafka."),
    "recovery": ("labs.recovery.__main__", "Damage copies of a log, and compare two recoveries."),
    "crash-loops": ("labs.crash_loops.__main__", "Kill brokers, or cut their power, under load."),
    "rolling-changes": (
        "labs.rolling_changes.__main__",
        "Upgrade or migrate a cluster of Kafka under load.",
    ),
    "power-model": (
        "labs.power_model.__main__",
        "Check storage on a modelled disk that loses power.",
    ),
    "group-model": ("labs.group_model.__main__", "Drive a group at two brokers by random steps."),
    "replication-model": ("labs.replication_model.__main__", "Check replication by random steps."),
    "transaction-model": (
        "labs.transaction_model.__main__",
        "Drive the coordinator of transactions and a model of it by random steps.",
    ),
    "clients": ("labs.clients.__main__", "List the clients of other projects and their calls."),
    "client-defects": (
        "labs.client_defects.__main__",
        "Judge wrong brokers by a client of another project.",
    ),
    "old-java-clients": (
        "labs.old_java_clients.__main__",
        "Make calls with Java clients of old releases, at a broker of Kafka 4.",
    ),
    "clients-under-faults": (
        "labs.clients_under_faults.__main__",
        "Run clients of other projects through faults.",
    ),
    "transaction-histories": (
        "labs.transaction_histories.__main__",
        "Run transactional clients through faults, and judge their histories.",
    ),
    "fault-schedules": (
        "labs.transaction_histories.fault_schedules",
        "Run transactional clients through overlapping faults, a line for each schedule.",
    ),
    "streams": (
        "labs.streams.__main__",
        "Kill an application of Kafka Streams with exactly_once_v2, and judge its output.",
    ),
    "planted-bugs": (
        "labs.transaction_histories.plant",
        "Find planted bugs of a coordinator by the histories of clients.",
    ),
    "late-end": (
        "labs.late_end.__main__",
        "Deliver an EndTxn within the next transaction (KAFKA-17754).",
    ),
    "fuzz": ("labs.fuzz.__main__", "Fuzz the codec, the proxies and the readers of captures."),
    "official-classes": (
        "labs.official_classes.crosscheck",
        "Compare the codec with Kafka's own classes.",
    ),
}
"""Name of the program -> its module, and its line in the list."""


class _Labs(LazyGroup):
    """Ends with a usage error where the programs are not installed, as in a wheel."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if find_spec("labs") is None:
            raise click.UsageError(
                "the labs are part of the source tree, and this installation has only the package: "
                "clone the repository, run scripts/setup there and use its .venv"
            )
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list from the table: it must not import all programs."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in _LABS.items()])


@click.command(
    "lab", cls=_Labs, lazy={name: (module, "main") for name, (module, _) in _LABS.items()}
)
def lab() -> None:
    """Run a program of the source tree: defect table, models, crash loops, clients, fuzzing.

    They prove that the suites notice wrong brokers and that the built-in broker is right.
    """
