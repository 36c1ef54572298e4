"""One module a client: how it is set, and how its calls become notes."""
