"""Differential runs: the same conversation with two brokers, and the first answer that differs.

Nothing here says what is right. Where answers differ one of the two is wrong, or the protocol
leaves the choice; then `explained.toml` says why.
"""
