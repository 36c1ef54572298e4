"""Metadata by records alone: the log of them, their batches, their effect, their reduction."""
