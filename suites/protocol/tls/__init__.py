"""Listeners with TLS: handshakes, certificates of clients, and their users."""
