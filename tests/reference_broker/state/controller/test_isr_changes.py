"""A leader's proposals of an ISR, and the controller's decisions (alterPartition)."""

from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import BrokerId
from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import api_56_alter_partition
from harness.reference_broker.handlers.outcome import Advertised, RequestContext
from harness.reference_broker.state.controller.isr_changes import Proposal, problem_with
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from tests.reference_broker.made_controller import (
    CHANCE,
    NOW,
    TOPIC_ID,
    MadeController,
    broker,
    registered,
)

ANOTHER_ID = UUID(int=78)
BROKERS = (
    broker(1),
    broker(2),
    broker(3),
    broker(4, is_fenced=True),
    broker(5, is_shutting_down=True),
)
OF = registered([1, 2, 3, 4, 5, 6], [1, 2])


def proposal(*isr: tuple[int, int], **changes: Any) -> Proposal:
    given: dict[str, Any] = {
        "sender": BrokerId(1),
        "leader_epoch": 5,
        "partition_epoch": 7,
        "isr": tuple((BrokerId(each), epoch) for each, epoch in isr or ((1, 10), (2, 20), (3, 30))),
        "is_recovering": False,
    }
    return Proposal(**{**given, **changes})


def problem(proposed: Proposal, registration: PartitionRegistration = OF) -> ErrorCode:
    return problem_with(proposed, registration, MadeController(BROKERS).state.brokers)


def test_valid_isr_proposal_is_accepted() -> None:
    assert problem(proposal()) is ErrorCode.NONE


# Each is wrong in what is named and in all that is looked at later.
REFUSED: list[tuple[str, ErrorCode, dict[str, Any]]] = [
    ("leader epoch to come", ErrorCode.NOT_CONTROLLER, {"leader_epoch": 6}),
    (
        "partition epoch to come",
        ErrorCode.NOT_CONTROLLER,
        {"partition_epoch": 8, "leader_epoch": 4},
    ),
    ("older leader epoch", ErrorCode.FENCED_LEADER_EPOCH, {"leader_epoch": 4}),
    ("not the leader", ErrorCode.INVALID_REQUEST, {}),
    ("older partition epoch", ErrorCode.INVALID_UPDATE_VERSION, {"sender": BrokerId(1)}),
]


@pytest.mark.parametrize(("error", "changes"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])  # fmt: skip
def test_isr_proposal_checks_epochs_and_leader_in_kafka_order(
    error: ErrorCode, changes: dict[str, Any]
) -> None:
    others = {"sender": BrokerId(2), "partition_epoch": 6, **changes}
    assert problem(proposal((7, 1), (4, 40), **others)) is error


@pytest.mark.parametrize(
    ("isr", "is_recovering"),
    [
        (((1, 10), (7, 70)), False),
        (((1, 10), (1, 10)), False),
        (((2, 20), (3, 30)), False),
        (((1, 10), (2, 20)), True),
        (((1, 10),), True),
    ],
    ids=["no replica", "twice", "without the leader", "recovering, two", "recovered before"],
)
def test_malformed_isr_or_recovery_state_returns_invalid_request(
    isr: tuple[tuple[int, int], ...], is_recovering: bool
) -> None:
    fenced_too = (*isr, (4, 40)) if len(isr) > 1 else isr
    wrong = proposal(*fenced_too, is_recovering=is_recovering)
    assert problem(wrong) is ErrorCode.INVALID_REQUEST


def test_recovering_leader_may_propose_isr_of_itself() -> None:
    recovering = registered([1, 2, 3], [1], is_recovering=True)
    assert problem(proposal((1, 10), is_recovering=True), recovering) is ErrorCode.NONE


@pytest.mark.parametrize(
    "member",
    [(6, 60), (4, 40), (5, 50), (3, 29), (3, 31)],
    ids=["not registered", "fenced", "going away", "older incarnation", "newer incarnation"],
)
def test_inactive_or_stale_broker_in_isr_returns_ineligible_replica(
    member: tuple[int, int],
) -> None:
    assert problem(proposal((1, 10), member)) is ErrorCode.INELIGIBLE_REPLICA


def test_isr_member_without_broker_epoch_matches_any_registration() -> None:
    assert problem(proposal((1, 10), (3, -1))) is ErrorCode.NONE


# -- the API ---------------------------------------------------------------------------------------


def asked(
    made: MadeController, *isr: int, version: int = 3, broker_epoch: int = 10, **changes: Any
) -> messages.AlterPartitionResponse:
    request = messages.AlterPartitionRequest
    known = made.partition
    given: dict[str, Any] = {
        "partition_index": 0,
        "leader_epoch": known.leader_epoch,
        "partition_epoch": known.partition_epoch,
    }
    if version >= 3:
        given["new_isr_with_epochs"] = [
            request.BrokerState(broker_id=each, broker_epoch=10 * each) for each in isr
        ]
    else:
        given["new_isr"] = [*isr]
    named: dict[str, Any] = {"topic_id": TOPIC_ID} if version >= 2 else {"topic_name": "t"}
    named |= {key: changes.pop(key) for key in ("topic_id", "topic_name") if key in changes}
    topic = request.TopicData(partitions=[request.PartitionData(**{**given, **changes})], **named)
    context = RequestContext(
        version, None, 0, made.state, Advertised(()), lambda: NOW, CHANCE, [], role=made.role
    )
    message = request(broker_id=1, broker_epoch=broker_epoch, topics=[topic])
    answer = api_56_alter_partition.handle(message, context).message
    assert isinstance(answer, messages.AlterPartitionResponse)
    return answer


def made_with(registration: PartitionRegistration, **configs: str) -> MadeController:
    made = MadeController(BROKERS)
    made.with_partition(registration, **configs)
    return made


def result(answer: messages.AlterPartitionResponse) -> Any:
    return answer.topics[0].partitions[0]


@pytest.mark.parametrize("version", [0, 2, 3])
def test_accepted_alter_partition_returns_new_partition_state(version: int) -> None:
    made = made_with(registered([1, 2, 3], [1, 2]))
    told = result(asked(made, 1, 2, 3, version=version))
    assert (told.error_code, told.isr, told.partition_epoch) == (0, [1, 2, 3], 8)
    assert (told.leader_id, told.leader_epoch) == (1, 5)
    assert made.partition.isr == (1, 2, 3)


def test_alter_partition_to_current_isr_writes_no_record() -> None:
    made = made_with(registered([1, 2, 3], [1, 2]))
    assert result(asked(made, 1, 2)).partition_epoch == 7


@pytest.mark.parametrize(
    ("version", "error"),
    [(1, ErrorCode.OPERATION_NOT_ATTEMPTED), (2, ErrorCode.INELIGIBLE_REPLICA)],
)
def test_fenced_isr_member_error_depends_on_version(version: int, error: ErrorCode) -> None:
    made = made_with(registered([1, 2, 4], [1, 2]))
    assert result(asked(made, 1, 2, 4, version=version)).error_code == error
    assert made.partition.isr == (1, 2)


@pytest.mark.parametrize(
    ("version", "error"), [(1, ErrorCode.FENCED_LEADER_EPOCH), (2, ErrorCode.NEW_LEADER_ELECTED)]
)
def test_alter_partition_that_ends_leadership_returns_epoch_error(
    version: int, error: ErrorCode
) -> None:
    made = made_with(registered([2, 3, 1], [1, 2], leader=1, adding=(3,), removing=(1,)))
    assert result(asked(made, 1, 2, 3, version=version)).error_code == error
    assert (made.partition.replicas, made.partition.leader) == ((2, 3), 2)


def test_alter_partition_request_with_wrong_broker_epoch_is_refused() -> None:
    answer = asked(made_with(registered([1, 2], [1])), 1, 2, broker_epoch=9)
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert not answer.topics


def test_alter_partition_of_unknown_topic_or_partition_is_refused() -> None:
    made = made_with(registered([1, 2], [1]))
    unknown = asked(made, 1, 2, topic_id=ANOTHER_ID)
    assert result(unknown).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    by_name = asked(made, 1, 2, version=1, topic_name="none")
    assert result(by_name).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    no_partition = asked(made, 1, 2, partition_index=1)
    assert result(no_partition).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
