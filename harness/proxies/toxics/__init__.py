"""Faults that know bytes and no protocol, one a file, named as toxiproxy names them."""
