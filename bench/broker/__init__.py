"""The built-in broker's speed beside peers in the same run: ``python -m bench broker``.

Peers: a server that answers without looking (the floor of any broker in Python), the mock cluster
inside librdkafka (C), Apache Kafka 4.4.0. Every client is outside of the broker's process. Raw
requests go over sockets of ours, records through confluent-kafka with its defaults.
``python -m bench.broker.crowd``: whether thousands of others disturb.
``python -m bench.broker.moments``: memory, cold start, a group's first record.
"""
