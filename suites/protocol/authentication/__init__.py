"""Authentication of clients, before their requests are served."""
