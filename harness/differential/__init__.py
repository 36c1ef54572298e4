"""Differential runs: the same conversation with two brokers, and the first answer that differs.

The comparison does not know the right answer. Where answers differ one of the two is wrong, or the
protocol leaves the choice; then `explained.toml` has the reason.
"""
