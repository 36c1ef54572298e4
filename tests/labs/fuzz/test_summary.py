"""The content read from libFuzzer's log."""

from __future__ import annotations

from labs.fuzz.summary import LEAK_MB, Status, as_text, summarise

LOG = """\
INFO: seed corpus: files: 37 min: 2b max: 389b total: 4777b rss: 44Mb
#38\tINITED cov: 244 ft: 545 corp: 27/3673b exec/s: 0 rss: 46Mb
#39\tNEW    cov: 245 ft: 546 corp: 28/3690b lim: 4096 exec/s: 0 rss: 46Mb L: 2/389 MS: 1 Custom-
#2200\tDONE   cov: 328 ft: 1739 corp: 283/133Kb lim: 4096 exec/s: 3607 rss: 47Mb
Done 2200 runs in 61 second(s)
stat::number_of_executed_units: 2200
stat::slowest_unit_time_sec:    1
stat::peak_rss_mb:              47
"""
CRASH = """\
==9235== ERROR: libFuzzer: fuzz target exited
artifact_prefix='/x/'; Test unit written to /x/crash-54ed
"""


def test_summary_of_successful_run_has_counts_and_no_problem() -> None:
    summary = summarise("records", LOG, 0, 61.0, [40, 45, 46, 47])
    assert summary.before == Status(38, 244, 545, 27)
    assert summary.after == Status(2200, 328, 1739, 283)
    assert (summary.executions, summary.slowest_s, summary.peak_rss_mb) == (2200, 1, 47)
    assert summary.problems == summary.artifacts == ()
    row = as_text([summary]).splitlines()[2]
    assert row.startswith("| records | 1.0 | 2200 | 36 | 244 to 328 | 545 to 1739 | 27 to 283 |")


def test_summary_of_crash_contains_artifact_path() -> None:
    summary = summarise("records", LOG + CRASH, 77, 3.0, [])
    assert summary.artifacts == ("/x/crash-54ed",)
    assert summary.problems == ("libFuzzer ended with 77",)
    assert "records: /x/crash-54ed" in as_text([summary])


def test_memory_growth_in_second_half_is_problem() -> None:
    steady = [50, 90, 95, 95, 95, 96]
    assert summarise("records", LOG, 0, 9.0, steady).problems == ()
    late = [5, 20, 20, 20, 88, 90]
    assert summarise("records", LOG, 0, 9.0, late).problems == ()
    leaking = [50, 90, 110, 110, 130, 111 + LEAK_MB]
    (problem,) = summarise("records", LOG, 0, 9.0, leaking).problems
    assert problem == "memory grew by 65 MB in the second half"


def test_run_that_never_began_has_problem() -> None:
    assert summarise("records", "no such module", 0, 0.1, []).problems
