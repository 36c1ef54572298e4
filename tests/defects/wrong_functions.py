"""A wrong function in place of a right one: a pytest plugin for tests that ask no broker."""

from __future__ import annotations

import importlib
import os

from tests.defects.all_defects import ALL_DEFECTS
from tests.defects.defect import WrongFunction
from tests.defects.table import WRONG_VARIABLE


def put_in_place(wrong: WrongFunction) -> None:
    """Whoever imports the name from now on gets the wrong one."""
    holder = importlib.import_module(wrong.module)
    *outer, name = wrong.name.split(".")
    for part in outer:
        holder = getattr(holder, part)
    setattr(holder, name, wrong.instead(getattr(holder, name)))


def pytest_configure() -> None:
    """Before the tests are collected."""
    name = os.environ[WRONG_VARIABLE]
    for defect in ALL_DEFECTS:
        if defect.name == name and defect.wrong is not None:
            put_in_place(defect.wrong)
