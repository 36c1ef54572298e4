"""A text file that lies beside the code; importlib.resources would make a start much slower."""

import pkgutil


def package_text(package: str, name: str) -> str:
    """The file ``name`` of ``package``. Raises OSError where there is none."""
    data = pkgutil.get_data(package, name)
    assert data is not None, "the loader of a package on disk gives its files"
    return data.decode("utf-8")
