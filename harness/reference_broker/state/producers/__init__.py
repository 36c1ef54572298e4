"""Producer ids, and the states of idempotent producers in a partition."""
