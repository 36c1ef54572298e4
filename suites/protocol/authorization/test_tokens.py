"""AUTHZ: the rights of requests about delegation tokens."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.runner.marks import at_versions, judges
from suites.protocol.support.permissions.judging import judge_row


@judges("AUTHZ-084")
@at_versions("CreateDelegationToken")
def test_an_own_token_needs_no_right(broker: BrokerUnderTest, api_version: int) -> None:
    judge_row("AUTHZ-084", broker, api_version)


@judges("AUTHZ-085")
@at_versions("CreateDelegationToken", "3+")
def test_a_token_of_another_owner_needs_create_tokens(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-085", broker, api_version)


@judges("AUTHZ-086")
@at_versions("RenewDelegationToken")
def test_no_right_is_enough_to_renew_a_foreign_token(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-086", broker, api_version)


@judges("AUTHZ-087")
@at_versions("ExpireDelegationToken")
def test_no_right_is_enough_to_expire_a_foreign_token(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-087", broker, api_version)


@judges("AUTHZ-088")
@at_versions("DescribeDelegationToken", "0-2", "3+")
def test_a_foreign_token_is_described_by_a_right_to_it_or_to_its_owner(
    broker: BrokerUnderTest, api_version: int
) -> None:
    judge_row("AUTHZ-088", broker, api_version)
