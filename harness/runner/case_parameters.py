"""The cases that the marks of a test make, and the API and version of each."""

from __future__ import annotations

import pytest

from harness.codec.apis import APIS, Api, api_named
from harness.codec.versions import VersionRange
from harness.runner.marks import ends_of, released_versions
from harness.sweep.requests import safety_of


def parametrize(metafunc: pytest.Metafunc) -> None:
    """``at_versions`` and ``at_every_version``: a case for each version."""
    mark = metafunc.definition.get_closest_marker("at_versions")
    if mark is not None:
        versions = _chosen(metafunc.config, *mark.args)
        metafunc.parametrize("api_version", versions, ids=[f"v{v}" for v in versions])
    mark = metafunc.definition.get_closest_marker("at_every_version")
    if mark is not None:
        pairs = [
            (api.name, version)
            for api in APIS.values()
            if safety_of(api.name) in mark.args[0]
            for version in _chosen(metafunc.config, api, api.valid_versions)
        ]
        names = [f"{name}-v{version}" for name, version in pairs]
        metafunc.parametrize(("api_name", "api_version"), pairs, ids=names)


def _chosen(config: pytest.Config, api: Api, *ranges: VersionRange) -> list[int]:
    """The released ones, or with ``--versions ends`` only the first and the last of each range."""
    chosen = ends_of if config.getoption("versions") == "ends" else released_versions
    return sorted({version for one in ranges for version in chosen(api, one)})


def api_of(item: pytest.Item) -> tuple[Api | None, int | None]:
    """Return the API and version of a case, by ``at_versions`` or the parameter ``api_name``."""
    params = item.callspec.params if hasattr(item, "callspec") else {}
    version = params.get("api_version")
    mark = item.get_closest_marker("at_versions")
    if mark is not None:
        return mark.args[0], version
    name = params.get("api_name")
    return (None if name is None else api_named(name)), version


def ends_of_case(item: pytest.Item) -> set[int]:
    """Return the first and the last version of each range of the case's test."""
    mark = item.get_closest_marker("at_versions")
    api, _ = api_of(item)
    if api is None:
        return set()
    ranges = (api.valid_versions,) if mark is None else mark.args[1:]
    return {version for one in ranges for version in ends_of(api, one)}
