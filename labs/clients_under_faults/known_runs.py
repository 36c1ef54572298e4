"""Recognizes runs that show nothing but a finding of docs/findings/clients.md.

Each of these findings needs a delivery timeout of records that ends before the faults do. A run
with a longer timeout, or with any other anomaly of that client, is not known.
"""

from __future__ import annotations

from harness.histories.checker import NOTHING_ACKNOWLEDGED
from labs.clients_under_faults.findings import DELIVERY_TIMEOUT_MS, FINDINGS
from labs.clients_under_faults.run import FaultRun

ALL_GIVEN_UP = "all-given-up"


def known(run: FaultRun) -> str | None:
    """Return the name of the finding; None for a run that is valid or shows anything else."""
    judgement = run.judgement
    if run.schedule.workload.delivery_timeout_ms > DELIVERY_TIMEOUT_MS:
        return None
    if judgement.why == NOTHING_ACKNOWLEDGED:
        return ALL_GIVEN_UP
    for name, finding in FINDINGS.items():
        if finding.client == run.client and judgement.anomalies.keys() == {finding.shows}:
            return name
    return None
