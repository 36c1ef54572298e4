"""The leader's checks of a client's batch, and its conversions before the append."""
