"""Client quotas: rates, and the throttle times that follow from them."""
