"""The checker of transactions on a long history."""
