"""Clients of many releases before a real Kafka, captured and read by ``codec pcap``."""
