"""The quota of a client on changes of partitions, during one request (KIP-599).

From a version of the API on the quota is strict: a topic is refused while the bucket is empty. At
earlier versions the change is made, and the client has to wait. With a ZooKeeper a
request that only validates counts for no quota (class ZkAdminManager).
"""

from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.topics.creation_refused import CreationRefused

_SINCE = (2, 7)
EXCEEDED = CreationRefused(
    ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded."
)


class MutationQuota:
    """Of one request; ``strict_since`` is the API's version, ``validate_only`` the request's."""

    def __init__(
        self, context: RequestContext, strict_since: int, *, validate_only: bool = False
    ) -> None:
        self._context = context
        self._is_strict = context.api_version >= strict_since
        like = context.state.like
        counts = not (validate_only and like.keeps_topics_in_zookeeper)
        self._is_on = counts and like.since(*_SINCE)
        self.throttle_ms = 0
        """The throttle time of the response, 0 as long as the quota is kept."""

    def allows(self, partitions: int) -> bool:
        """Count the creation or deletion of partitions; return False if it may not happen."""
        if not self._is_on:
            return True
        quotas, client, now = (
            self._context.state.client_quotas,
            self._context.client,
            self._context.now(),
        )
        empty_ms = quotas.empty_ms(client, now) if self._is_strict else 0
        if empty_ms:
            self.throttle_ms = empty_ms
            return False
        quotas.mutated(client, partitions, now)
        if not self._is_strict:
            self.throttle_ms = quotas.empty_ms(client, now)
        return True
