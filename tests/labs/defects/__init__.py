"""The mechanics of the defect table: sessions, workers, the queue, brokers that serve many rows."""
