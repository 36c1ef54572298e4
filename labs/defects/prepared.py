"""Work that every row of the table would repeat: an import before the fork does it once."""

import gc

from harness.codec.apis import APIS
from harness.codec.message_codec import decode, encode
from harness.conformance.catalogue import load_catalogue

load_catalogue()
for api in APIS.values():
    for message in (api.request, api.response):
        for version in api.valid_versions:
            decode(message, version, encode(message(), version))  # makes both of its functions
gc.freeze()
