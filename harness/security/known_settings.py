"""The settings of Kafka's clients: those that are read, those that are refused, and the others.

Sources: CommonClientConfigs, ProducerConfig, ConsumerConfig, AdminClientConfig, SslConfigs and
SaslConfigs of Kafka 4.x; CONFIGURATION.md of librdkafka 2.x.
"""

from __future__ import annotations

from collections.abc import Mapping


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


READ = _names(
    """
    security.protocol
    sasl.mechanism sasl.mechanisms sasl.jaas.config sasl.username sasl.password
    sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.client.credentials.client.id
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.scope
    sasl.oauthbearer.client.id sasl.oauthbearer.client.secret sasl.oauthbearer.extensions
    kafka-conformance.keystore.other kafka-conformance.keystore.other.name
    kafka-conformance.keystore.untrusted
    kafka-conformance.mechanisms kafka-conformance.token kafka-conformance.token.command
    ssl.truststore.location ssl.truststore.type ssl.truststore.password ssl.truststore.certificates
    ssl.keystore.location ssl.keystore.type ssl.keystore.password ssl.keystore.key
    ssl.keystore.certificate.chain ssl.key.password
    ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem
    ssl.key.location ssl.key.pem
    ssl.endpoint.identification.algorithm enable.ssl.certificate.verification
    ssl.enabled.protocols
    """
)
_NO_KERBEROS = "GSSAPI (Kerberos) is not supported: use PLAIN, SCRAM, OAUTHBEARER or mTLS"
_NO_JAVA = "a Java class cannot be used here"
REFUSED: Mapping[str, str] = {
    "sasl.client.callback.handler.class": _NO_JAVA,
    "ssl.engine.factory.class": _NO_JAVA,
    "security.providers": _NO_JAVA,
    "ssl.cipher.suites": "cannot be chosen here: remove it, and the broker chooses",
    "ssl.crl.location": "revocation lists are not read",
    "ssl.keystore.certificate": "its name is ssl.keystore.certificate.chain",
    "sasl.kerberos.service.name": _NO_KERBEROS,
    "sasl.kerberos.principal": _NO_KERBEROS,
    "sasl.kerberos.keytab": _NO_KERBEROS,
    "sasl.kerberos.kinit.cmd": _NO_KERBEROS,
    "sasl.oauthbearer.assertion.algorithm": "a signed assertion is not made here",
    "sasl.oauthbearer.assertion.private.key.file": "a signed assertion is not made here",
}
"""The settings that a connection would need and that have no effect here, with the reason."""

_OF_CONNECTIONS_WITHOUT_EFFECT = """
    bootstrap.servers bootstrap.controllers metadata.broker.list client.id config.providers
    config.providers.env.class config.providers.env.param.allowlist.pattern
    sasl.login.class sasl.login.callback.handler.class sasl.login.connect.timeout.ms
    sasl.login.read.timeout.ms sasl.login.retry.backoff.ms sasl.login.retry.backoff.max.ms
    sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
    sasl.login.refresh.min.period.seconds sasl.login.refresh.buffer.seconds
    sasl.kerberos.ticket.renew.window.factor sasl.kerberos.ticket.renew.jitter
    sasl.kerberos.min.time.before.relogin
    sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
    sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience
    sasl.oauthbearer.expected.issuer sasl.oauthbearer.jwks.endpoint.url
    sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.header.urlencode
    sasl.oauthbearer.method sasl.oauthbearer.config enable.sasl.oauthbearer.unsecure.jwt
    ssl.protocol ssl.provider ssl.keymanager.algorithm ssl.trustmanager.algorithm
    ssl.secure.random.implementation
    socket.connection.setup.timeout.ms socket.connection.setup.timeout.max.ms
    socket.keepalive.enable socket.nagle.disable socket.timeout.ms socket.send.buffer.bytes
    socket.receive.buffer.bytes socket.max.fails socket.blocking.max.ms
    connections.max.idle.ms client.dns.lookup broker.address.family broker.address.ttl
    reconnect.backoff.ms reconnect.backoff.max.ms retry.backoff.ms retry.backoff.max.ms retries
    request.timeout.ms default.api.timeout.ms send.buffer.bytes receive.buffer.bytes
    metadata.max.age.ms metadata.max.idle.ms metadata.recovery.strategy
    metadata.recovery.rebootstrap.trigger.ms metric.reporters metrics.num.samples
    metrics.sample.window.ms metrics.recording.level enable.metrics.push auto.include.jmx.reporter
    topic.metadata.refresh.interval.ms topic.metadata.refresh.fast.interval.ms
    topic.metadata.refresh.sparse topic.blacklist topic.metadata.propagation.max.ms
    api.version.request api.version.request.timeout.ms api.version.fallback.ms
    broker.version.fallback debug log_level log.queue log.thread.name log.connection.close
    statistics.interval.ms enabled_events client.rack builtin.features max.in.flight
    max.in.flight.requests.per.connection message.max.bytes message.copy.max.bytes
    receive.message.max.bytes allow.auto.create.topics plugin.library.paths interceptors
"""
_OF_PRODUCERS = """
    acks request.required.acks batch.size batch.num.messages linger.ms queue.buffering.max.ms
    queue.buffering.max.messages queue.buffering.max.kbytes queue.buffering.backpressure.threshold
    buffer.memory max.block.ms max.request.size compression.type compression.codec
    compression.level compression.gzip.level compression.lz4.level compression.zstd.level
    delivery.timeout.ms message.timeout.ms message.send.max.retries enable.idempotence
    enable.gapless.guarantee transactional.id transaction.timeout.ms
    transaction.two.phase.commit.enable key.serializer value.serializer partitioner
    partitioner.class partitioner.ignore.keys partitioner.adaptive.partitioning.enable
    partitioner.availability.timeout.ms interceptor.classes sticky.partitioning.linger.ms
    delivery.report.only.error
"""
_OF_CONSUMERS = """
    group.id group.instance.id group.protocol group.remote.assignor group.protocol.type
    session.timeout.ms heartbeat.interval.ms max.poll.interval.ms max.poll.records
    enable.auto.commit auto.commit.interval.ms auto.commit.enable enable.auto.offset.store
    auto.offset.reset partition.assignment.strategy fetch.min.bytes fetch.max.bytes
    fetch.max.wait.ms fetch.wait.max.ms fetch.message.max.bytes max.partition.fetch.bytes
    fetch.error.backoff.ms fetch.queue.backoff.ms isolation.level check.crcs exclude.internal.topics
    key.deserializer value.deserializer enable.partition.eof queued.min.messages
    queued.max.messages.kbytes coordinator.query.interval.ms consume.callback.max.messages
    offset.store.method offset.store.path share.acknowledgement.mode share.acquire.mode
"""
IGNORED = _names(f"{_OF_CONNECTIONS_WITHOUT_EFFECT}{_OF_PRODUCERS}{_OF_CONSUMERS}")
"""The settings of clients that change nothing of the way in."""
KNOWN = READ | IGNORED | REFUSED.keys()
