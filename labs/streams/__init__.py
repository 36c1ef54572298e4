"""Kafka Streams with exactly_once_v2, killed and started again in the middle."""
