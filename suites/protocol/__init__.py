"""What a single client can see on the wire."""
