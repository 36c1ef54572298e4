"""The files of a node, which outlive its process."""
