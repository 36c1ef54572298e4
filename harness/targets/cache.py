"""Where downloaded things are kept between runs."""

import os
from pathlib import Path

CACHE_SETTING = "KAFKA_CONFORMANCE_CACHE"


def cache_dir() -> Path:
    """The cache folder: the setting ``KAFKA_CONFORMANCE_CACHE``, else the user's cache folder."""
    chosen = os.environ.get(CACHE_SETTING)
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("kafka-conformance")
