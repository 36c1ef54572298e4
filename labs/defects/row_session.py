"""One pytest session that runs the suites again and again, each time as a run of its own.

pytest starts, imports and collects once. Then each call of :meth:`RowSession.run` does what pytest
does between collection and exit: the plugin of the suites starts a run (it starts the target,
probes it and opens a journal), the chosen tests run, the run is finished and everything is closed.
So a run under a defect has its own target, probe, names and journal, as in a process of its own,
and every fixture is torn down at its end.

The plugin of the suites is called through its hooks alone. ``--collect-only`` keeps it from
starting a run before the first one is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.summary import RunSummary, summarize
from harness.targets.target import Target

PLUGIN_ROOM = "harness."
"""The package of the plugins that make a run; the hooks of pytest itself belong to the session."""
SUITES = "suites"
WORDS = (
    *("--collect-only", "-s", "-p", "no:terminal", "-p", "no:cacheprovider"),
    *("-p", "no:hypothesispytest", "-o", "addopts=--strict-markers --strict-config"),
)
MakeTarget = Callable[[Path | None], Target]
"""Makes a target that is not started; it gets the folder for its logs."""


class CollectionFailed(Exception):
    """The suites cannot be collected; the text contains the reasons."""


class RowSession:
    """A pytest plugin; ``work`` is called once with it, when everything is collected."""

    def __init__(self, work: Callable[[RowSession], None]) -> None:
        self._work = work
        self._problems: list[str] = []
        self._options: Sequence[str] = ()
        self._all: Sequence[pytest.Item] = ()
        self._session: pytest.Session | None = None
        self._make_target: MakeTarget | None = None
        self.failure: BaseException | None = None
        """The exception of ``work``; pytest would only print it."""
        self.running: pytest.Item | None = None
        """The test that runs now."""
        self.before_each: Callable[[], None] = _nothing
        """Called before each test."""
        self.until: Callable[[], bool] = to_the_end
        """Called behind each test; True ends the run there."""

    @property
    def items(self) -> Sequence[pytest.Item]:
        """All collected tests, in their order."""
        assert self._session is not None, "nothing is collected yet"
        return list(self._all)

    # -- hooks -----------------------------------------------------------------------------------

    def pytest_configure(self, config: pytest.Config) -> None:
        """For the source beside a failure, which no run shows, pytest would parse whole files."""
        config.option.tbstyle = "native"

    def pytest_conformance_target(self, spec: str, log_dir: Path | None) -> Target:
        """The target of the present run, whatever the command line names."""
        assert self._make_target is not None, "no run has begun"
        return self._make_target(log_dir)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._problems.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Call ``work`` in place of pytest's own loop over the tests."""
        self._session, self._all = session, list(session.items)
        try:
            self._work(self)
        except BaseException as error:
            self.failure = error
            if not isinstance(error, Exception):
                raise
        return True

    # -- one run ---------------------------------------------------------------------------------

    def run(
        self, items: Sequence[pytest.Item], make_target: MakeTarget, out: Path, name: str
    ) -> RunSummary:
        """Judge these tests in a run of this name below ``out``.

        Raises TargetError: the target does not start.
        """
        assert self._session is not None, "nothing is collected yet"
        session, config = self._session, self._session.config
        config.option.collectonly = False
        config.option.out, config.option.run_id = str(out), name
        self._make_target, session.items = make_target, list(items)
        with self._plugins_of_a_run(config):
            try:
                self._hook("pytest_sessionstart")(session=session)
                self._hook("pytest_collection_finish")(session=session)
                self._run_items(config, items)
                whole = pytest.ExitCode.TESTS_FAILED
                self._hook("pytest_sessionfinish")(session=session, exitstatus=whole)
            finally:
                self._hook("pytest_unconfigure")(config=config)
        return summarize(read_journal(out / "runs" / name / JOURNAL_NAME))

    def _run_items(self, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
        for item, following in pairwise([*items, None]):
            assert item is not None
            item._initrequest()  # type: ignore[attr-defined]  # a test that ran keeps its fixtures
            self.running = item
            self.before_each()
            try:
                config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            finally:
                self.running = None
            if following is not None and self.until():
                item.session._setupstate.teardown_exact(None)
                return

    def _hook(self, name: str) -> Any:
        """The hook of the plugins that make a run, without those of pytest."""
        manager = self._manager
        others = [one for one in manager.get_plugins() if not _room(one).startswith(PLUGIN_ROOM)]
        return manager.subset_hook_caller(name, others)

    @property
    def _manager(self) -> pytest.PytestPluginManager:
        assert self._session is not None
        return self._session.config.pluginmanager

    @contextmanager
    def _plugins_of_a_run(self, config: pytest.Config) -> Iterator[None]:
        """Unregister at the end the plugins that a run registers for the reports of its tests."""
        before = {id(one) for one in config.pluginmanager.get_plugins()}
        try:
            yield
        finally:
            for one in list(config.pluginmanager.get_plugins()):
                if id(one) not in before:
                    config.pluginmanager.unregister(one)

    def run_imported_anew(
        self, items: Sequence[pytest.Item], make_target: MakeTarget, out: Path, name: str
    ) -> RunSummary:
        """Do the same as :meth:`run` with the test files imported again, in a new session.

        The process must end afterwards: this session is of no use any more.
        """
        names = {item.nodeid for item in items}
        found: list[RunSummary] = []

        def work(anew: RowSession) -> None:
            again = [item for item in anew.items if item.nodeid in names]
            anew.before_each, anew.until = self.before_each, self.until
            found.append(anew.run(again, make_target, out, name))

        for module in [one for one in sys.modules if one.split(".")[0] == SUITES]:
            del sys.modules[module]
        files = dict.fromkeys(str(item.path) for item in items)
        RowSession(work).collect(list(files), self._options)
        return found[0]

    def collect(self, words: Sequence[str], options: Sequence[str] = ()) -> None:
        """Start pytest. Return when ``work`` has returned, or raise what it raised.

        ``words``: the files; ``options``: of the suites. Raises CollectionFailed.
        """
        self._options = options
        code = pytest.main([*words, *options, *WORDS], plugins=[self])
        if self.failure is not None:
            raise self.failure
        if self._session is None:
            raise CollectionFailed("\n".join(self._problems) or f"pytest ended with {code!r}")


def _nothing() -> None:
    """Do nothing."""


def to_the_end() -> bool:
    """Let the run go on after each test."""
    return False


def _room(plugin: object) -> str:
    """The module of a plugin, which may be a module itself."""
    return str(getattr(plugin, "__name__", None) or type(plugin).__module__)
