"""Brokers register, live, and go: the controller's records and answers."""

from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import BrokerId, TimeMs
from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers import (
    api_62_broker_registration,
    api_63_broker_heartbeat,
)
from harness.reference_broker.handlers.outcome import Advertised, RequestContext
from harness.reference_broker.state.controller import fencing
from harness.reference_broker.state.controller.broker_states import BrokerEvent
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER
from tests.reference_broker.made_controller import (
    CHANCE,
    NOW,
    SESSION_MS,
    MadeController,
    broker,
    registered,
    registration_of,
)

LATER = TimeMs(NOW + SESSION_MS + 1)


def context(made: MadeController, version: int, now: TimeMs = NOW) -> RequestContext:
    return RequestContext(
        version, None, 0, made.state, Advertised(()), lambda: now, CHANCE, [], role=made.role
    )


def register(made: MadeController, number: int, now: TimeMs = NOW, **changes: Any) -> Any:
    request = registration_of(number, **changes)
    return api_62_broker_registration.handle(request, context(made, 4, now)).message


def beat(made: MadeController, number: int, now: TimeMs = NOW, **changes: Any) -> Any:
    known = made.state.brokers.get(number)
    given: dict[str, Any] = {
        "broker_id": number,
        "broker_epoch": -1 if known is None else known.epoch,
        "current_metadata_offset": made.role.log.end_offset - 1,
    }
    request = messages.BrokerHeartbeatRequest(**{**given, **changes})
    return api_63_broker_heartbeat.handle(request, context(made, 2, now)).message


def with_brokers(*numbers: int, keeps_eligible: bool = True) -> MadeController:
    """A controller with registered brokers, unfenced by a heartbeat."""
    made = MadeController([], keeps_eligible=keeps_eligible)
    for number in numbers:
        assert register(made, number).error_code == 0
        assert not beat(made, number).is_fenced
    return made


# -- registration ----------------------------------------------------------------------------------


def test_new_broker_is_fenced_with_epoch_of_its_record_offset() -> None:
    made = MadeController([])
    offset = made.role.log.end_offset
    answer = register(made, 1, rack="r")
    known = made.state.brokers.get(1)
    assert known is not None
    assert (answer.error_code, answer.broker_epoch, known.epoch) == (0, offset, offset)
    assert (known.is_fenced, known.rack, known.directories) == (True, "r", (UUID(int=1_001),))


def test_same_incarnation_keeps_broker_epoch_and_fencing_state() -> None:
    made = with_brokers(1)
    before = made.state.brokers.get(1)
    assert before is not None
    answer = register(made, 1, now=TimeMs(NOW + 1), rack="another")
    known = made.state.brokers.get(1)
    assert known is not None
    assert answer.broker_epoch == before.epoch == known.epoch
    assert (known.is_fenced, known.rack) == (False, "another")
    assert made.role.sessions.is_valid(BrokerId(1), TimeMs(NOW + SESSION_MS))


def test_other_incarnation_registers_only_after_session_end() -> None:
    made = with_brokers(1)
    new = {"incarnation_id": UUID(int=9)}
    in_time = register(made, 1, TimeMs(NOW + SESSION_MS), **new)
    assert in_time.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert register(made, 1, LATER, **new).error_code == 0


def test_other_incarnation_of_broker_in_shutdown_is_refused_while_session_lives() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]))
    assert not beat(made, 1, want_shut_down=True).should_shut_down
    refused = register(made, 1, TimeMs(NOW + SESSION_MS), incarnation_id=UUID(int=9))
    assert refused.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION


def test_broker_without_heartbeat_does_not_block_other_incarnation() -> None:
    made = MadeController([])
    first = register(made, 1).broker_epoch
    again = register(made, 1, incarnation_id=UUID(int=9))
    assert again.error_code == 0
    assert again.broker_epoch > first


def test_registration_with_other_cluster_id_is_refused() -> None:
    answer = register(MadeController([]), 1, cluster_id="another")
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID


@pytest.mark.parametrize(
    "log_dirs",
    [[], [UUID(int=2_000), UUID(int=5)], [UUID(int=2_000), UUID(int=2_000)], [UUID(int=1_002)]],
    ids=["none", "reserved", "twice", "another broker's"],
)
def test_registration_with_invalid_log_directory_ids_is_refused(log_dirs: list[UUID]) -> None:
    answer = register(with_brokers(2), 1, log_dirs=log_dirs)
    assert answer.error_code == ErrorCode.INVALID_REGISTRATION


def test_registration_without_finalized_feature_levels_is_refused() -> None:
    made, feature = MadeController([]), messages.BrokerRegistrationRequest.Feature
    made.state.features["f"] = 2

    def with_range(low: int, high: int) -> int:
        mine = feature(name="f", min_supported_version=low, max_supported_version=high)
        features = [*registration_of(1).features, mine]
        return int(register(made, 1, features=features).error_code)

    assert with_range(0, 1) == with_range(3, 4) == ErrorCode.UNSUPPORTED_VERSION
    assert register(made, 1).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert register(made, 1, features=[]).error_code == ErrorCode.INVALID_REGISTRATION
    assert with_range(0, 2) == 0


def test_registration_of_migrating_zookeeper_broker_is_refused() -> None:
    answer = register(MadeController([]), 1, is_migrating_zk_broker=True)
    assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.parametrize(("is_clean", "eligible"), [(True, (1,)), (False, ())])
def test_restarted_broker_leaves_isr_and_joins_elr_only_after_clean_shutdown(
    is_clean: bool, eligible: tuple[int, ...]
) -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]), min_insync_replicas="2")
    old = made.state.brokers.get(1)
    assert old is not None
    previous = old.epoch if is_clean else -1
    new = {"incarnation_id": UUID(int=9), "previous_broker_epoch": previous}
    answer = register(made, 1, LATER, **new)
    assert (made.partition.isr, made.partition.leader) == ((2,), 2)
    assert made.partition.elr == eligible
    assert answer.broker_epoch == made.role.log.end_offset - 1


@pytest.mark.parametrize("is_clean", [True, False])
def test_restarted_broker_of_3_9_changes_no_partition_by_its_registration(is_clean: bool) -> None:
    made = with_brokers(1, 2)
    made.state.like = EmulatedRelease.of("3.9.2")
    made.with_partition(registered([1, 2], [1, 2]))
    before, old = made.partition, made.state.brokers.get(1)
    assert old is not None
    previous = old.epoch if is_clean else -1
    register(made, 1, LATER, incarnation_id=UUID(int=9), previous_broker_epoch=previous)
    assert made.partition == before


# -- heartbeats ------------------------------------------------------------------------------------


def test_heartbeat_unfences_broker_that_has_read_its_registration() -> None:
    made = MadeController([])
    epoch = register(made, 1).broker_epoch
    early = beat(made, 1, current_metadata_offset=epoch - 1)
    assert (early.is_caught_up, early.is_fenced) == (False, True)
    assert beat(made, 1, want_fence=True).is_fenced
    right = beat(made, 1, current_metadata_offset=epoch)
    assert (right.is_caught_up, right.is_fenced) == (True, False)
    assert made.state.brokers.is_active(1)


@pytest.mark.parametrize(("number", "epoch"), [(1, 999), (2, 0)], ids=["another", "unknown"])
def test_heartbeat_with_wrong_broker_epoch_returns_stale_broker_epoch(
    number: int, epoch: int
) -> None:
    answer = beat(with_brokers(1), number, broker_epoch=epoch)
    assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH


def test_heartbeat_with_want_fence_fences_broker() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]))
    assert beat(made, 1, want_fence=True).is_fenced
    assert (made.partition.isr, made.partition.leader) == ((2,), 2)


def test_unfenced_broker_leads_partition_without_leader() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1], [], elr=(1,)))
    beat(made, 1, want_fence=True)
    assert made.partition.leader == NO_LEADER
    beat(made, 1)
    assert (made.partition.leader, made.partition.isr) == (1, (1,))


def test_broker_with_oldest_heartbeat_is_stale_first() -> None:
    made = with_brokers(1, 2, 3)
    sessions = made.role.sessions
    beat(made, 2, TimeMs(NOW + 5))
    beat(made, 3, TimeMs(NOW + 9))
    assert sessions.stale(TimeMs(NOW + SESSION_MS)) is None
    assert sessions.stale(TimeMs(NOW + SESSION_MS + 10)) == 1
    sessions.apply(BrokerId(1), BrokerEvent.SESSION_ENDED)
    assert sessions.stale(TimeMs(NOW + SESSION_MS + 10)) == 2
    sessions.forget(BrokerId(2))
    assert sessions.stale(TimeMs(NOW + SESSION_MS + 10)) == 3


def test_fencing_writes_isr_changes_before_fencing_record() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]))
    known = made.state.brokers.get(1)
    assert known is not None
    records = fencing.fenced(made.state, known)
    kinds = [messages.PartitionChangeRecord, messages.BrokerRegistrationChangeRecord]
    assert [type(one) for one in records] == kinds
    made.carry_out(records)
    assert (made.partition.isr, made.partition.leader) == ((2,), 2)
    assert not made.state.brokers.is_active(1)


def test_unregistered_broker_is_removed_and_loses_leadership() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]))
    known = made.state.brokers.get(1)
    assert known is not None
    made.carry_out(fencing.unregistered(made.state, known))
    assert made.state.brokers.get(1) is None
    assert made.partition.leader == 2


# -- controlled shutdown ---------------------------------------------------------------------------


def test_controlled_shutdown_of_broker_without_leaderships_is_immediate() -> None:
    made = with_brokers(1, 2)
    answer = beat(made, 1, want_shut_down=True)
    assert (answer.should_shut_down, answer.is_fenced) == (True, True)
    assert not made.state.brokers.is_active(1)


def test_controlled_shutdown_waits_until_active_brokers_read_new_leaders() -> None:
    made = with_brokers(1, 2, 3)
    made.with_partition(registered([1, 2], [1, 2]))
    before = made.role.log.end_offset - 1
    first = beat(made, 1, want_shut_down=True)
    assert (first.should_shut_down, first.is_fenced) == (False, False)
    known = made.state.brokers.get(1)
    assert known is not None
    assert known.is_shutting_down
    assert (made.partition.isr, made.partition.leader) == ((2,), 2)
    beat(made, 2)
    beat(made, 3, current_metadata_offset=before)
    assert not beat(made, 1, want_shut_down=True).should_shut_down
    beat(made, 3)
    assert beat(made, 1, want_shut_down=True).should_shut_down


def test_controlled_shutdown_of_last_isr_member_leaves_no_leader() -> None:
    made = with_brokers(1, 2, keeps_eligible=False)
    made.with_partition(registered([1, 2], [1]))
    assert not beat(made, 1, want_shut_down=True).should_shut_down
    assert made.partition.leader == NO_LEADER
    assert made.partition.isr == (1,)
    beat(made, 2)
    assert beat(made, 1, want_shut_down=True).should_shut_down


def test_controlled_shutdown_of_fenced_broker_is_immediate() -> None:
    made = MadeController([broker(7)])
    register(made, 1)
    assert beat(made, 1, want_shut_down=True).should_shut_down


def test_controlled_shutdown_with_want_fence_is_immediate() -> None:
    made = with_brokers(1, 2)
    made.with_partition(registered([1, 2], [1, 2]))
    assert beat(made, 1, want_shut_down=True, want_fence=True).should_shut_down
    assert made.partition.leader == 2
