"""Bytes that releases of Kafka wrote, with their values."""
