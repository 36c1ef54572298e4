"""Every address that a cluster advertises is rewritten to the proxy of that node."""

from harness.proxies.addresses.book import Address, AddressBook
from harness.proxies.addresses.mapped_book import MappedBook
from harness.proxies.addresses.rewriter import AddressRewriter

__all__ = ["Address", "AddressBook", "AddressRewriter", "MappedBook"]
