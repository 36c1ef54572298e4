"""Tests of `kafka-conformance talk`."""
