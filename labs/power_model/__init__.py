"""A disk that loses power as a model: what may be left of what the storage wrote, recovered."""
