"""The options of pytest for a run of the suites."""

from __future__ import annotations

import pytest

from harness.runner.run_session import AskedClient


def add_options(group: pytest.OptionGroup) -> None:
    """Add the options for target, output, selection and repetition."""
    group.addoption("--target", default="reference", help="the broker to judge: reference, "
                    "kafka:RELEASE, external:HOST:PORT[,HOST:PORT], command:FILE")  # fmt: skip
    group.addoption("--out", default="results", help="folder for journals and results")
    group.addoption(
        "--keep",
        action="store_true",
        help="keep the data folders of brokers that are started, below the run",
    )
    group.addoption("--run-id", default=None, help="name of this run (default: made from the time)")
    group.addoption("--seed", type=int, default=0, help="seed of every random draw")
    group.addoption("--oracle-seed", type=int, default=None, metavar="N",
                    help="draw the conversations with the specification anew (default: by the "
                    "version of the catalogue, so that runs ask the same)")  # fmt: skip
    group.addoption("--versions", choices=("all", "ends"), default="all",
                    help="run at each version of a range, or only at both ends")  # fmt: skip
    group.addoption("--grease", action="store_true",
                    help="put unknown tagged fields into every flexible request")  # fmt: skip
    group.addoption("--retries", type=int, default=0, metavar="N",
                    help="run a case that failed up to N times more; every attempt is kept, and "
                    "the worst one counts")  # fmt: skip
    group.addoption("--client", metavar="NAME", help="the client of another project that "
                    "suites/clients asks; without one that suite is left out")  # fmt: skip
    group.addoption("--client-failures", metavar="FILE", help="cases that failed with this client "
                    "at another broker too, with their reasons, as JSON")  # fmt: skip
    group.addoption("--client-answer-s", type=float, default=90.0, metavar="SECONDS",
                    help="time of the client for one call (default: 90)")  # fmt: skip
    group.addoption("--requirement", action="append", default=[], metavar="GLOB",
                    help="only tests of requirements that match, such as PROD-*")  # fmt: skip


def asked_client_of(config: pytest.Config) -> AskedClient | None:
    """The client of a run about a pair. Raises UsageError."""
    if word := config.getoption("client"):
        from harness.runner.asked_clients import asked_clients  # no other run needs the clients

        return AskedClient(word, asked_clients(config).known.label)
    return None
