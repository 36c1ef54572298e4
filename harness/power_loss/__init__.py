"""Disks that lose power: what was not flushed to them is gone, as on a real machine."""
