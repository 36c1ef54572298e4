"""Numbers as text that Prometheus reads (its exposition format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
COUNTER, GAUGE = "counter", "gauge"
_IN_HELP = str.maketrans({"\\": r"\\", "\n": r"\n"})
_IN_LABEL = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass
class Family:
    """All numbers of one metric, distinguished by their labels; ``kind``: counter or gauge."""

    name: str
    kind: str
    help: str
    _samples: dict[tuple[tuple[str, str], ...], float] = field(default_factory=dict)

    def add(self, labels: Mapping[str, object], value: float) -> None:
        """Add a value to the number with these labels."""
        key = tuple((name, str(label)) for name, label in labels.items())
        self._samples[key] = self._samples.get(key, 0) + value

    def lines(self) -> Iterable[str]:
        """Yield the lines of the text, none without a number."""
        if self._samples:
            yield f"# HELP {self.name} {self.help.translate(_IN_HELP)}"
            yield f"# TYPE {self.name} {self.kind}"
        for labels, value in self._samples.items():
            inside = ",".join(f'{name}="{label.translate(_IN_LABEL)}"' for name, label in labels)
            yield f"{self.name}{{{inside}}} {value}" if inside else f"{self.name} {value}"


def as_text(families: Iterable[Family]) -> str:
    return "".join(f"{line}\n" for family in families for line in family.lines())
