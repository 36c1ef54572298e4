"""ENC: nullable fields of responses, null, empty or a value as Apache Kafka sends them."""

from __future__ import annotations

import pytest

from harness.runner.marks import judges
from harness.runner.null_judge import NULLABLE_APIS, NullJudge


@judges("ENC-015")
@pytest.mark.parametrize("api_name", NULLABLE_APIS)
def test_nullable_fields_are_null_or_empty_as_kafka_sends_them(
    null_judge: NullJudge, api_name: str
) -> None:
    """The harmless request at every version, requests in known states, and drawn ones."""
    null_judge.judge(api_name)
