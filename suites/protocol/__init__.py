"""Conformance as a single client can see it on the wire."""
