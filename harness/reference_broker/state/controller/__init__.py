"""What the controller decides: brokers, leaders, who is in sync. Pure, as all of the state."""
