"""The rights that requests need, and the answers to clients without them."""
