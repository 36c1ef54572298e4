"""Access control lists: the entries, their index, and the decisions by them."""
