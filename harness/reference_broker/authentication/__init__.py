"""Secured listeners: TLS, the SASL exchanges of clients, and their principals."""
