"""Names, types, limits and defaults of configs, and the layers of a broker's values."""
