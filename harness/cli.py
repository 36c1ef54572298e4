"""``kafka-conformance``: one command, its subcommands loaded only when they are used."""

from __future__ import annotations

import click

from harness.commands.lazy_group import LazyGroup

_COMMANDS = {
    "run": ("harness.commands.run", "run"),
    "broker": ("harness.reference_broker.command", "broker"),
    "clients": ("harness.commands.clients", "clients_command"),
    "proxy": ("harness.commands.proxy", "proxy_command"),
    "report": ("harness.commands.report", "report"),
    "site": ("harness.commands.site", "site_command"),
    "archaeology": ("harness.commands.archaeology", "archaeology_command"),
    "gate": ("harness.commands.gate", "gate_command"),
    "agree": ("harness.commands.agree", "agree_command"),
    "compare": ("harness.commands.compare", "compare_command"),
    "requirements": ("harness.commands.requirements", "requirements"),
    "targets": ("harness.commands.targets", "targets"),
    "sweep": ("harness.commands.sweep", "sweep_command"),
    "diff": ("harness.commands.diff", "diff_command"),
    "cleanup": ("harness.commands.cleanup", "cleanup_command"),
    "versions": ("harness.commands.versions", "versions_command"),
    "timeline": ("harness.commands.timeline", "timeline_command"),
    "log": ("harness.commands.log", "log"),
    "talk": ("harness.commands.talk", "talk"),
    "codec": ("harness.commands.codec", "codec"),
    "lab": ("harness.commands.lab", "lab"),
}

_EXTRAS = {
    "run": "run",
    "clients": "run",
    "agree": "run",
    "compare": "run",
    "diff": "run",
    "report": "light",
    "site": "light",
    "archaeology": "report",
}
"""The commands that a default installation does not have, and the extra with their packages."""


@click.command(
    cls=LazyGroup,
    lazy=_COMMANDS,
    extras=_EXTRAS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="kafka-conformance", prog_name="kafka-conformance")
def main() -> None:
    """Judge whether a broker really speaks Kafka.

    \b
    A first run, and its matrix:
      kafka-conformance run --target reference --out results
      kafka-conformance report results --out results/report
    """


if __name__ == "__main__":
    main()
