"""A connection through a proxy that an input is played on: no socket, no clock but its own."""
