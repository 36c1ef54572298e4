"""Null, empty and values of responses are distinguished, and judged by the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.codec.apis import api_named
from harness.codec.dictionary_form import to_dict
from harness.codec.messages import DescribeConfigsResponse, FetchResponse
from harness.codec.versions import VersionRange
from harness.differential.conversation import ConversationStep
from harness.oracle.null_forms import (
    NullForm,
    SeenForm,
    apis_with_nullable_fields,
    forms_in,
    nullable_fields,
)
from harness.oracle.null_states import STATES, conversations_about
from harness.oracle.null_table import (
    FREE,
    NullRow,
    NullTableError,
    null_table,
    problem_of,
    write_null_table,
)
from harness.oracle.subjects import SUBJECTS

NULL, EMPTY, VALUE = NullForm
RECORDS = "responses.partitions.records"
KAFKA = ("4.4.0",)


def _records_of(records: bytes | None, error_code: int, version: int) -> list[SeenForm]:
    partition = FetchResponse.PartitionData(error_code=error_code, records=records)
    topic = FetchResponse.FetchableTopicResponse(partitions=[partition])
    response = to_dict(FetchResponse(responses=[topic]), version)
    found = forms_in(ConversationStep("Fetch", version, {"isolation_level": 1}), response)
    return [one for one in found if one.field == RECORDS]


@pytest.mark.parametrize("version", [4, 12, 17])
@pytest.mark.parametrize(
    ("records", "form"), [(None, NULL), (b"", EMPTY), (b"\0", VALUE)], ids=["null", "empty", "some"]
)
def test_form_of_records_is_null_empty_or_value(
    records: bytes | None, form: NullForm, version: int
) -> None:
    assert _records_of(records, 0, version) == [SeenForm(RECORDS, "no error", form)]
    assert _records_of(records, 3, version) == [SeenForm(RECORDS, "error", form)]


@pytest.mark.parametrize("version", range(4, 18))
@pytest.mark.parametrize("error_code", [0, 3])
def test_null_records_of_fetch_contradict_kafka_with_and_without_error(
    error_code: int, version: int
) -> None:
    (found,) = _records_of(None, error_code, version)
    row = null_table()["Fetch", RECORDS, found.beside].of_newest()
    problem = problem_of(row, found.form)
    assert problem is not None
    assert problem.startswith("is null; Kafka sends empty (4.4.0)")
    (right,) = _records_of(b"", error_code, version)
    assert problem_of(row, right.form) is None


def test_newest_release_alone_is_compared_in_each_mode() -> None:
    row = _row("rack", "no error", null=("2.8.2", "4.4.0"), empty=("3.9.2,mode=zk", "2.8.2"))
    assert row.of_newest() == _row("rack", "no error", null=KAFKA)
    before = _row("rack", "no error", empty=("2.8.2",))
    assert before.of_newest() == before


def test_enclosing_error_and_condition_of_request_are_part_of_place() -> None:
    config = DescribeConfigsResponse.DescribeConfigsResourceResult(name="a", value=None)
    result = DescribeConfigsResponse.DescribeConfigsResult(error_code=1, configs=[config])
    response = to_dict(DescribeConfigsResponse(results=[result]), 4)
    step = ConversationStep("DescribeConfigs", 4, {"include_documentation": True})
    beside = {one.field: one.beside for one in forms_in(step, response)}
    assert beside["results.configs.value"] == "error"
    assert beside["results.configs.documentation"] == "error, documentation"


def _row(field: str, beside: str, **seen: tuple[str, ...]) -> NullRow:
    forms = {NullForm(form): targets for form, targets in seen.items()}
    return NullRow("Api", field, beside, VersionRange(0, 1), forms)


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        (_row("records", "no error", empty=KAFKA), [NULL]),
        (_row("records", "no error", empty=KAFKA, value=KAFKA), [NULL]),
        (_row("records", "no error", null=KAFKA), [EMPTY]),
        (_row("records", "no error", null=KAFKA, value=KAFKA), [EMPTY]),
        (_row("records", "no error", null=KAFKA, empty=KAFKA), []),
        (_row("records", "no error", value=KAFKA), [NULL]),
        (_row("error_message", "error", value=KAFKA), []),
        (_row("error_message", "error", null=KAFKA, value=KAFKA), [EMPTY]),
        (None, []),
    ],
)
def test_form_that_kafka_never_sent_is_a_problem_if_it_sent_the_other(
    row: NullRow | None, wrong: list[NullForm]
) -> None:
    assert [form for form in NullForm if problem_of(row, form) is not None] == wrong


def test_table_has_every_nullable_field_of_every_response_and_no_other() -> None:
    expected = [(api, path) for api in apis_with_nullable_fields() for path in nullable_fields(api)]
    assert list(dict.fromkeys((api, path) for api, path, _ in null_table())) == expected
    assert FREE.keys() <= set(expected)


def test_versions_in_table_are_released_ones_with_the_field_nullable() -> None:
    for row in null_table().values():
        if row.versions is not None:
            assert set(row.versions) <= set(api_named(row.api).valid_versions), row


def test_written_table_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    write_null_table(null_table().values(), path)
    assert null_table(path) == null_table()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("api\tfield", "line 1 is not the head"),
        ("{head}\nFetch\trecords", "line 2: 2 columns instead of 7"),
        ("{head}\nFetch\trecords\terror\tx\t-\t-\t-", "line 2: not a version range"),
        ("{head}\nA\tb\t-\t-\t-\t-\t-\nA\tb\t-\t-\t-\t-\t-", "a place has two lines"),
    ],
)
def test_damaged_table_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "table.tsv"
    head = "api\tfield\tbeside\tversions\tnull\tempty\tvalue"
    path.write_text(text.replace("{head}", head))
    with pytest.raises(NullTableError, match=told):
        null_table(path)


def test_conversations_send_each_version_and_draw_for_subjects_alone() -> None:
    served = {api.name: api.valid_versions for api in map(api_named, {*SUBJECTS, *STATES})}
    for name in ("Fetch", "ConsumerGroupDescribe"):
        found = list(conversations_about(name, served, 1, 20))
        for conversation in found[:2]:
            versions = {step.version for step in conversation.steps if step.api == name}
            assert versions == set(served[name]), conversation.origin
        assert (len(found) > 2) is (name in SUBJECTS)


def test_state_of_configs_names_broker_by_its_id() -> None:
    served = {name: api_named(name).valid_versions for name in ("CreateTopics", "DescribeConfigs")}
    _, state, *_ = conversations_about("DescribeConfigs", served, 7, 0)
    asked = [step.fields for step in state.steps if step.api == "DescribeConfigs"]
    names = {one["resource_name"] for fields in asked for one in fields["resources"]}
    assert names == {"7", "$name-a"}
