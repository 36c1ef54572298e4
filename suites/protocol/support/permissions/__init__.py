"""The permission matrix: the rights that each request needs, and the answer without them."""
