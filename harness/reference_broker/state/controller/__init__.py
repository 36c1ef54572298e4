"""Decisions of the controller: brokers, leaders, ISRs. Pure, as all of the state."""
