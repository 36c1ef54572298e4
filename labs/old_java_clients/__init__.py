"""Java clients of old releases, which the driver of the client matrix does not compile with."""
