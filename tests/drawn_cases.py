"""A sample of tests that have very many cases or take long; ``--deep`` runs them all.

The sample is drawn by a word, which is that of the commit unless ``--draw`` gives another: the next
commit runs other cases; every worker, and a repetition of a run, runs the same ones.
"""

from __future__ import annotations

import shlex

import pytest

from checks.draw import head, left_out

MARKS = ("sample", "rotates")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--deep", action="store_true", help="Every case, also of tests of which a sample is run."
    )
    parser.addoption(
        "--draw", metavar="WORD", help="What draws the sample; without, the commit of HEAD."
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.draw is None:  # pytest-xdist gives the option to its workers
        config.option.draw = head(config.rootpath)


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("deep"):
        return "cases: all (--deep)"
    return f"cases: a sample, which {_draw_option(config)} draws again"


def _draw_option(config: pytest.Config) -> str:
    return f"--draw {shlex.quote(config.getoption('draw'))}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep one in N of the cases of each test, class or file marked ``sample(N)``, one in N of all
    functions marked ``rotates(N)``, at least one of each, and no test marked ``deep``.
    """
    if config.getoption("deep") or any("::" in argument for argument in config.args):
        return
    draw = config.getoption("draw")
    out = {item.nodeid for item in items if item.get_closest_marker("deep")}
    for (_, share), cases in _samples(items).items():
        out |= left_out(cases, share, draw)
    for share, functions in _rotating(items).items():
        gone = left_out(functions, share, draw)
        out |= {item.nodeid for item in items if _function(item) in gone}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in out])
    items[:] = [item for item in items if item.nodeid not in out]


def _samples(items: list[pytest.Item]) -> dict[tuple[str, int], list[str]]:
    """Return cases by the node that carries the mark, and by its share."""
    groups: dict[tuple[str, int], list[str]] = {}
    for item in items:
        for node, mark in item.iter_markers_with_node("sample"):
            where = _function(item) if node is item else node.nodeid
            groups.setdefault((where, int(mark.args[0])), []).append(item.nodeid)
    return groups


def _rotating(items: list[pytest.Item]) -> dict[int, list[str]]:
    """Return functions of all files by the share of the closest mark."""
    groups: dict[int, list[str]] = {}
    for item in items:
        if mark := item.get_closest_marker("rotates"):
            groups.setdefault(int(mark.args[0]), []).append(_function(item))
    return groups


def _function(item: pytest.Item) -> str:
    return item.nodeid.split("[")[0]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the command that repeats each failed case: another draw may leave it out."""
    failed = [
        report.nodeid
        for outcome in ("failed", "error")
        for report in terminalreporter.getreports(outcome)
        if isinstance(report, pytest.TestReport)  # not of a file that could not be collected
        and any(mark in report.keywords for mark in MARKS)
    ]
    if failed and not config.getoption("deep"):
        terminalreporter.section(f"drawn cases that failed ({_draw_option(config)})")
        for nodeid in dict.fromkeys(failed):
            terminalreporter.line(f"again: pytest {shlex.quote(nodeid)}")
