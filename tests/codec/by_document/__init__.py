"""Formats by document only: bytes put together by hand from the documents' layouts.

The checksums are the published one of CRC-32 ("123456789" has 0xcbf43926) wherever the payload is
that text; elsewhere zlib's.
"""
