"""Tables of configs: their cells, and what is refused."""

import pytest

from harness.reference_broker.state.config_definitions import config_table as module
from harness.reference_broker.state.config_definitions.config_table import config_table
from harness.reference_broker.state.config_definitions.config_values import ConfigDefinition

HEAD = "# a comment\nname\ttype\tdefault\tsince\tuntil\tat_least\tchoices\tpattern\tcolour\n"


def read(text: str, monkeypatch: pytest.MonkeyPatch) -> list[module.ConfigRow]:
    monkeypatch.setattr(module, "package_text", lambda _package, _file: HEAD + text)
    return config_table("a.package", "configs.tsv")


def test_each_cell_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = read("a.b\tlist\tx\t0.10.1\t4.0\t-2\tx,y\toffset reset\tred\n", monkeypatch)
    definition, own = row
    assert definition == ConfigDefinition(
        "a.b",
        "list",
        "x",
        at_least=-2,
        choices=("x", "y"),
        pattern=definition.pattern,
        since=(0, 10, 1),
        until=(4, 0),
    )
    assert definition.pattern is not None
    assert definition.pattern.startswith("(?i:earliest|latest)")
    assert own == {"colour": "red"}


def test_empty_cells_are_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    (row,) = read("a\tint\t" + "\t" * 6, monkeypatch)
    assert row == (ConfigDefinition("a", "int", ""), {"colour": ""})


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("a\tint\t", ValueError),
        ("a\tinteger\t" + "\t" * 6, KeyError),
        ("a\tint\t\t\t\t\t\tno such pattern\t", KeyError),
        ("a\tint\t\tfirst\t\t\t\t\t", ValueError),
    ],
)
def test_a_wrong_line_is_refused(
    line: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(error):
        read(line, monkeypatch)
