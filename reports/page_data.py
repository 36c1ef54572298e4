"""The data of the page, as compact JSON: long texts once, everything else as numbers.

templates/page_data.js reads it; the two change together.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from .evidence import evidence_path
from .fault_timelines import FaultEvent, detail_words
from .histories import Span
from .matrix import AreaCount, Cell, Matrix, Note
from .mutant_matrix import FATES
from .verdicts import LEVELS, NOT_RUN, WORST_FIRST
from .wire_matrix import DIRECTIONS, STATES
from .wording import fold, note_words

EMBEDDED_EVIDENCE_LIMIT: Final = 6_000_000
# (declared, observed) of an API version; as `offers` in page_data.js.
OFFERS: Final = ((False, False), (True, False), (False, True))
_VERDICTS: Final = {word.name: number for number, word in enumerate((*WORST_FIRST, NOT_RUN))}


def page_data(matrix: Matrix) -> str:
    """The JSON text, fit to stand in a `<script type="application/json">`."""
    return script_data(_Document(matrix).made())


def script_data(document: Any) -> str:
    """Compact JSON that nothing in it can break out of a `<script>` element."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    # Nothing in it can end the element or begin a comment.
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


class _Numbered:
    """Texts by number, in the order in which they were first met."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


class _Document:
    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.targets = {target: number for number, target in enumerate(matrix.targets)}
        self.rows = {row.id: number for number, row in enumerate(matrix.rows)}
        self.cases, self.fields, self.fault_words = _Numbered(), _Numbered(), _Numbered()
        self.evidence: dict[tuple[str, str], int] = {}

    def made(self) -> dict[str, Any]:
        matrix = self.matrix
        rows = [
            [row.id, row.area, row.level, row.statement, self._in_order(row.cells, self._cell)]
            for row in matrix.rows
        ]
        return {
            "targets": list(matrix.targets),
            "asOne": [
                [column.name, [self.targets[target] for target in column.targets]]
                for column in matrix.joined
            ],
            "runs": self._in_order(
                matrix.counted_runs, lambda _, run: [run.run, run.seed, int(run.run_complete)]
            ),
            "verdicts": [
                [word.name, word.words, word.sign, word.meaning] for word in (*WORST_FIRST, NOT_RUN)
            ],
            "rows": rows,
            "areas": [self._area(area) for area in matrix.areas if area.level is not None],
            "levels": list(LEVELS),
            "apis": self._apis(),
            "wire": self._wire(),
            "wireMissing": list(matrix.wire_missing),
            "states": list(STATES),
            "faults": self._faults(),
            "histories": self._histories(),
            "defects": self._defects(),
            "mutants": self._mutants(),
            "evidence": list(self._evidence()),
            "cases": list(self.cases.texts),
            "fields": list(self.fields.texts),
            "faultWords": list(self.fault_words.texts),
            "observed": {
                row.id: matrix.observed[row.id] for row in matrix.rows if row.id in matrix.observed
            },
        }

    def _in_order(self, by_target: Any, made: Callable[[str, Any], Any]) -> list[Any]:
        """By target, in the order of the columns; 0 where a target has none."""
        return [
            made(target, by_target[target]) if target in by_target else 0
            for target in self.matrix.targets
        ]

    def _cell(self, target: str, cell: Cell) -> list[Any]:
        run = self.matrix.counted_runs[target].run
        parts = [
            [
                self.cases(part.case),
                part.versions,
                _VERDICTS[part.verdict],
                part.attempts,
                int(part.unstable),
                [self._note(run, note) for note in part.notes],
            ]
            for part in fold(cell)
        ]
        return [_VERDICTS[cell.verdict], int(cell.unstable), len(cell.parts), parts]

    def _note(self, run: str, note: Note) -> list[Any]:
        key = (run, note.evidence)
        number = self.evidence.setdefault(key, len(self.evidence)) if note.evidence else -1
        return [_VERDICTS[note.verdict], note_words(note), number]

    def _area(self, area: AreaCount) -> list[Any]:
        counts = [area.counts[word.name] for word in WORST_FIRST]
        return [area.area, self.targets[area.target], area.level, counts]

    def _apis(self) -> list[Any]:
        apis: dict[tuple[int, str], dict[int, list[Any]]] = {}
        for api in self.matrix.apis:
            versions = apis.setdefault((api.api_key, api.api_name), {})
            cells = versions.setdefault(api.api_version, [0] * len(self.targets))
            cells[self.targets[api.target]] = [
                OFFERS.index((api.declared, api.observed)),
                _number(api.decodable),
                _number(api.behaves),
                [[self.rows[name], _VERDICTS[verdict]] for name, verdict in api.requirements],
            ]
        return [
            [key, name, [[version, *cells] for version, cells in versions.items()]]
            for (key, name), versions in apis.items()
        ]

    def _wire(self) -> list[Any]:
        return [
            [
                seen.api_key,
                seen.api_name,
                seen.api_version,
                self.targets[seen.target],
                DIRECTIONS.index(seen.direction),
                seen.messages,
                [[error.code, error.name, error.count] for error in seen.errors],
                [
                    [self.fields(one.field), STATES.index(one.what), one.count]
                    for one in seen.fields
                ],
            ]
            for seen in self.matrix.wire
        ]

    def _faults(self) -> list[Any]:
        return [
            [
                self.targets[one.target],
                self.cases(one.case),
                one.attempt,
                one.count,
                [self._fault(event) for event in one.events],
            ]
            for one in self.matrix.faults
        ]

    def _fault(self, event: FaultEvent) -> list[Any]:
        """Numbers of words and ordinals, -1 for what it is not about; the time as it is drawn."""
        words = (event.what, event.link, event.direction, event.rule, detail_words(event))
        return [
            round(event.at_ms, 1),
            *(-1 if word is None else self.fault_words(word) for word in words),
            -1 if event.connection is None else event.connection,
            -1 if event.frame is None else event.frame,
        ]

    def _histories(self) -> list[Any]:
        return [
            [
                self.targets[one.target],
                self.cases(one.case),
                *(one.attempt, one.sent, one.acknowledged, one.failed, one.unknown),
                *(-1 if one.in_log is None else one.in_log, one.every),
                [self._span(span) for span in one.spans],
            ]
            for one in self.matrix.histories
        ]

    def _span(self, span: Span) -> list[Any]:
        """As an event of a fault; -1 for an end that never came."""
        words = (span.process, span.action, span.outcome, span.detail)
        return [
            *(-1 if word is None else self.fault_words(word) for word in words),
            -1 if span.partition is None else span.partition,
            round(span.began_ms, 1),
            -1 if span.ended_ms is None else round(span.ended_ms, 1),
            -1 if span.offset is None else span.offset,
            span.value or "",
        ]

    def _defects(self) -> list[Any]:
        return [
            [
                row.requirement,
                row.defect,
                row.target,
                row.meaning,
                int(row.killed),
                row.reason,
                row.problem,
                [
                    [change.requirement, _number(change.was), _number(change.now)]
                    for change in row.changed
                ],
            ]
            for row in self.matrix.defects
        ]

    def _mutants(self) -> list[Any]:
        return [
            [one.target, one.at, one.area, one.operator, one.fate, FATES[one.fate], one.mutants]
            for one in self.matrix.mutants
        ]

    def _evidence(self) -> Iterable[list[Any]]:
        """Path beside the page (empty: it is not there) and, while there is room, the text."""
        room = EMBEDDED_EVIDENCE_LIMIT
        for run, path in self.evidence:
            text = self.matrix.evidence.get((run, path))
            packed = "" if text is None else _packed(text)
            room -= len(packed)
            shown = packed if room >= 0 else ""
            yield ["" if text is None else evidence_path(run, path), shown]


def _number(verdict: str | None) -> int:
    return -1 if verdict is None else _VERDICTS[verdict]


def _packed(text: str) -> str:
    """Raw deflate in Base64: a browser unpacks it without any script of others."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(text.encode("utf-8", "replace")) + packer.flush()
    return base64.b64encode(packed).decode()
