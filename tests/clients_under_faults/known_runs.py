"""Which runs that are not valid show a finding that docs/findings/clients.md describes.

All of these need records whose time is over before the faults are: nothing else that such a client
does, and nothing that it does with more time, is explained.
"""

from __future__ import annotations

from harness.histories.checker import NOTHING_ACKNOWLEDGED
from harness.histories.judgement import Anomaly, Verdict
from tests.clients_under_faults.findings import DELIVERY_TIMEOUT_MS
from tests.clients_under_faults.run import Run

_SHOWN = {
    "confluent-kafka": ("duplicates-after-a-timeout", {Anomaly.DUPLICATE}),
    "kafka-python": ("no-new-producer-id", {Anomaly.STUCK}),
}
"""By client: the finding, and the anomalies that it shows, and no others."""
ALL_GIVEN_UP = "all-given-up"


def known(run: Run) -> str | None:
    """The name of what explains it; None for a run that is valid, or that nothing explains."""
    judgement = run.judgement
    if judgement.verdict is Verdict.VALID:
        return None
    if run.schedule.workload.delivery_timeout_ms > DELIVERY_TIMEOUT_MS:
        return None
    if judgement.verdict is Verdict.UNKNOWN:
        return ALL_GIVEN_UP if judgement.why == NOTHING_ACKNOWLEDGED else None
    finding, anomalies = _SHOWN.get(run.client, ("", set[Anomaly]()))
    return finding if judgement.anomalies.keys() <= anomalies else None
