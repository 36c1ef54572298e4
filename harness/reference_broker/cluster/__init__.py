"""Nodes of a cluster: what runs beside the handlers, and talks to other nodes over sockets."""
