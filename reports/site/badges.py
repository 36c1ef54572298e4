"""Badges of targets: an SVG, and the JSON that the endpoint of shields.io reads."""

from __future__ import annotations

import json
from html import escape
from typing import Final, NamedTuple

from ..matrix import Matrix
from ..totals import Total, totals
from .addresses import badge
from .render import SitePages

LABEL: Final = "Kafka protocol"
BAD: Final = ("failed", "harness_error")
_PX_A_SIGN: Final = 6.6
_MARGIN_PX: Final = 10


class BadgeWords(NamedTuple):
    """The message and its colour, as shields.io names it and as it is drawn."""

    message: str
    colour: str
    drawn: str


def write_badges(pages: SitePages, matrix: Matrix) -> None:
    """Write both forms for each target."""
    runs = matrix.counted_runs
    for total in totals(matrix):
        run = runs.get(total.target)
        words = badge_words(total, complete=run is not None and run.run_complete)
        pages.write(badge(total.target, "svg"), badge_svg(words))
        pages.write(badge(total.target, "json"), _endpoint(words))


def badge_words(total: Total, *, complete: bool) -> BadgeWords:
    """The words of a badge; the worst that holds decides.

    A number of passed MUSTs stands beside all of the catalogue, so that a run of few requirements
    does not look like one of all.
    """
    bad = sum(total.must[name] for name in BAD)
    if not complete:
        return BadgeWords("incomplete run", "orange", "#a04a00")
    if bad:
        return BadgeWords(f"{bad} of {total.musts} MUSTs failed", "red", "#b3202c")
    message = f"{total.must['passed']} of {total.musts} MUSTs passed"
    if not total.must["passed"] or total.must["inconclusive"]:
        return BadgeWords(message, "yellow", "#7a5c00")
    return BadgeWords(message, "brightgreen", "#1a7a3c")


def badge_svg(words: BadgeWords) -> str:
    """An image of text on two fields, without fonts or files of others."""
    left, right = (_width_px(text) for text in (LABEL, words.message))
    said = escape(f"{LABEL}: {words.message}")
    texts = "".join(
        f'<text x="{at}" y="14" textLength="{width - _MARGIN_PX}">{escape(text)}</text>'
        for at, width, text in (
            (_MARGIN_PX // 2, left, LABEL),
            (left + _MARGIN_PX // 2, right, words.message),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{said}"><title>{said}</title>'
        f'<clipPath id="c"><rect width="{left + right}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#c)"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{words.drawn}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{texts}</g>'
        "</svg>\n"
    )


def _width_px(text: str) -> int:
    return round(len(text) * _PX_A_SIGN) + _MARGIN_PX


def _endpoint(words: BadgeWords) -> str:
    said = {
        "schemaVersion": 1,
        "label": LABEL,
        "message": words.message,
        "color": words.colour,
    }
    return json.dumps(said, indent=1) + "\n"
