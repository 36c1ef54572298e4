"""DescribeCluster: API key 60, versions 0 to 2.

Behaviour
- Cluster id, controller and brokers as in Metadata; operations only on request.

Version notes
- v1   the client names the kind of endpoint that it means, broker or controller (KIP-919)
- v2   fenced brokers on demand, each marked (KIP-1073)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeClusterRequest, DescribeClusterResponse
from harness.reference_broker.handlers.authorized_operations import NOT_ASKED, cluster_operations
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.seen_partition import any_broker

API_KEY = 60
_BROKERS, _CONTROLLERS = 1, 2


def handle(request: DescribeClusterRequest, context: RequestContext) -> Answer:
    """Describe the brokers of the cluster; refuse other endpoint types."""
    wanted = request.endpoint_type
    if wanted == _CONTROLLERS:
        return _refused(ErrorCode.MISMATCHED_ENDPOINT_TYPE, "This is a broker, not a controller.")
    if wanted != _BROKERS:
        return _refused(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"There are no endpoints of type {wanted}."
        )
    known = list(context.state.brokers.with_listener(context.listener))
    alive = [broker.broker_id for broker, _ in known if not broker.is_fenced]
    asks_operations = request.include_cluster_authorized_operations
    return Answer(
        DescribeClusterResponse(
            cluster_id=context.state.identity.cluster_id,
            controller_id=any_broker(alive, context),
            brokers=[
                DescribeClusterResponse.DescribeClusterBroker(
                    broker_id=broker.broker_id,
                    host=at.host,
                    port=at.port,
                    rack=broker.rack,
                    is_fenced=broker.is_fenced,
                )
                for broker, at in known
                if request.include_fenced_brokers or not broker.is_fenced
            ],
            cluster_authorized_operations=cluster_operations(context)
            if asks_operations
            else NOT_ASKED,
        )
    )


def _refused(error: ErrorCode, message: str) -> Answer:
    return Answer(DescribeClusterResponse(error_code=error, error_message=message))
