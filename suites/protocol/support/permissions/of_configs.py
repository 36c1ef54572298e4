"""Requests of the permission matrix about configs, quotas and users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.codec.messages import (
    AlterClientQuotasRequest,
    AlterConfigsRequest,
    AlterUserScramCredentialsRequest,
    DescribeClientQuotasRequest,
    DescribeConfigsRequest,
    DescribeUserScramCredentialsRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
)
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene

TOPIC, BROKER, GROUP = 2, 4, 32
"""Types of config resources."""
SET = 0
KEY, VALUE = "retention.ms", "7654321"
OF_BROKER = ("log.retention.ms", VALUE)
OF_GROUP = ("consumer.heartbeat.interval.ms", "6000")
QUOTA = "consumer_byte_rate"
EXACTLY = 0
USER = "user"
Named = Callable[[Scene], str]
Configs = DescribeConfigsRequest.DescribeConfigsResource


def _topic(scene: Scene) -> str:
    return scene.topic.name


def _broker(scene: Scene) -> str:
    return str(scene.broker.own_id())


def _group(scene: Scene) -> str:
    return scene.group


def _describe(kind: int, named: Named) -> Callable[[Scene, int], DescribeConfigsRequest]:
    def request(scene: Scene, _: int) -> DescribeConfigsRequest:
        one = Configs(resource_type=kind, resource_name=named(scene), configuration_keys=None)
        return DescribeConfigsRequest(resources=[one])

    return request


def _change(
    kind: int, named: Named, key: str, value: str, *, validate_only: bool = False
) -> Callable[[Scene, int], IncrementalAlterConfigsRequest]:
    def request(scene: Scene, _: int) -> IncrementalAlterConfigsRequest:
        config = IncrementalAlterConfigsRequest.AlterableConfig(
            name=key, config_operation=SET, value=value
        )
        one = IncrementalAlterConfigsRequest.AlterConfigsResource(
            resource_type=kind, resource_name=named(scene), configs=[config]
        )
        return IncrementalAlterConfigsRequest(resources=[one], validate_only=validate_only)

    return request


def _replace(
    kind: int, named: Named, key: str, value: str, *, validate_only: bool = False
) -> Callable[[Scene, int], AlterConfigsRequest]:
    def request(scene: Scene, _: int) -> AlterConfigsRequest:
        config = AlterConfigsRequest.AlterableConfig(name=key, value=value)
        one = AlterConfigsRequest.AlterConfigsResource(
            resource_type=kind, resource_name=named(scene), configs=[config]
        )
        return AlterConfigsRequest(resources=[one], validate_only=validate_only)

    return request


def _retention(scene: Scene) -> str | None:
    one = Configs(resource_type=TOPIC, resource_name=_topic(scene), configuration_keys=[KEY])
    (result,) = scene.broker.ask(DescribeConfigsRequest(resources=[one])).results
    return next((config.value for config in result.configs if config.name == KEY), None)


def _list(_: Scene, __: int) -> ListConfigResourcesRequest:
    return ListConfigResourcesRequest()


def _quotas(scene: Scene, _: int) -> DescribeClientQuotasRequest:
    component = DescribeClientQuotasRequest.ComponentData(
        entity_type=USER, match_type=EXACTLY, match=scene.user.name
    )
    return DescribeClientQuotasRequest(components=[component], strict=False)


def _change_quota(scene: Scene, _: int) -> AlterClientQuotasRequest:
    return _quota_change(scene, remove=False)


def _quota_change(scene: Scene, *, remove: bool) -> AlterClientQuotasRequest:
    entity = AlterClientQuotasRequest.EntityData(entity_type=USER, entity_name=scene.user.name)
    change = AlterClientQuotasRequest.OpData(key=QUOTA, value=0.0 if remove else 1e9, remove=remove)
    entry = AlterClientQuotasRequest.EntryData(entity=[entity], ops=[change])
    return AlterClientQuotasRequest(entries=[entry], validate_only=False)


def _quota(scene: Scene) -> list[float]:
    entries = scene.broker.ask(_quotas(scene, 0)).entries
    assert entries is not None, "the user of the run may see quotas"
    return [value.value for one in entries for value in one.values]


def _with_quota(scene: Scene) -> None:
    scene.broker.ask(_quota_change(scene, remove=False))
    scene.at_end(lambda: scene.broker.ask(_quota_change(scene, remove=True)))


def _quota_goes(scene: Scene) -> None:
    scene.at_end(lambda: scene.broker.ask(_quota_change(scene, remove=True)))


def _users(scene: Scene, _: int) -> DescribeUserScramCredentialsRequest:
    named = DescribeUserScramCredentialsRequest.UserName(name=scene.user.name)
    return DescribeUserScramCredentialsRequest(users=[named])


def _remove_user(scene: Scene, _: int) -> AlterUserScramCredentialsRequest:
    """Of a name that no user has: the user itself stays."""
    gone = AlterUserScramCredentialsRequest.ScramCredentialDeletion(
        name=f"{scene.user.name}-nobody", mechanism=1
    )
    return AlterUserScramCredentialsRequest(deletions=[gone], upsertions=[])


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "DescribeConfigs": Asked(_describe(TOPIC, _topic), secret="results.configs"),
        "DescribeConfigs/broker": Asked(_describe(BROKER, _broker), secret="results.configs"),
        "DescribeConfigs/group": Asked(_describe(GROUP, _group), secret="results.configs"),
        "IncrementalAlterConfigs": Asked(_change(TOPIC, _topic, KEY, VALUE), state=_retention),
        "IncrementalAlterConfigs/broker": Asked(
            _change(BROKER, _broker, *OF_BROKER, validate_only=True)
        ),
        "IncrementalAlterConfigs/group": Asked(
            _change(GROUP, _group, *OF_GROUP, validate_only=True)
        ),
        "AlterConfigs": Asked(_replace(TOPIC, _topic, KEY, VALUE), state=_retention),
        "AlterConfigs/broker": Asked(_replace(BROKER, _broker, *OF_BROKER, validate_only=True)),
        "ListConfigResources": Asked(_list),
        "DescribeClientQuotas": Asked(_quotas, _with_quota, secret="entries"),
        "AlterClientQuotas": Asked(_change_quota, _quota_goes, _quota),
        "DescribeUserScramCredentials": Asked(_users, secret="results.credential_infos"),
        "AlterUserScramCredentials": Asked(_remove_user),
    }
)
"""By the form of the row."""
