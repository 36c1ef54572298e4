"""The rights that each request needs (the permission matrix)."""
