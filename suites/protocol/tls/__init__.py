"""Listeners with TLS."""
