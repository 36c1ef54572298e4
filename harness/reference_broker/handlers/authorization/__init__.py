"""What a request needs rights for, and what a client without them gets."""
