"""The first use of a message from several threads at once: one class, whole answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.codec import dictionary_form, messages
from harness.codec.dictionary_form import to_dict
from harness.codec.messages import FetchResponse, message_class, message_names
from harness.codec.structs import Message, build_message_class

THREADS = 4
WAIT_S = 5


def all_at_once(ask: Callable[[], Any]) -> list[Any]:
    barrier = threading.Barrier(THREADS)

    def one() -> Any:
        barrier.wait()
        return ask()

    with ThreadPoolExecutor(THREADS) as pool:
        return [asked.result() for asked in [pool.submit(one) for _ in range(THREADS)]]


def together(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let all threads enter the function together, and leave it together."""
    before, after = threading.Barrier(THREADS), threading.Barrier(THREADS)

    def called(*arguments: Any) -> Any:
        before.wait(WAIT_S)
        made = function(*arguments)
        after.wait(WAIT_S)
        return made

    return called


def test_concurrent_first_use_returns_one_message_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_classes", {})
    monkeypatch.setattr(messages, "build_message_class", together(build_message_class))
    classes = all_at_once(lambda: message_class("FetchRequest"))
    assert set(map(id, classes)) == {id(message_class("FetchRequest"))}


def test_message_names_are_complete_while_other_thread_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thread that asks while the definitions are read must not take half of them for all."""
    names = message_names()
    half_read, looked = threading.Event(), threading.Event()

    class Text(str):
        __slots__ = ()

        def splitlines(self, keepends: bool = False) -> Any:
            for place, line in enumerate(str.splitlines(self, keepends)):
                if place == len(names) // 2 and not half_read.is_set():
                    half_read.set()
                    assert looked.wait(WAIT_S)
                yield line

    def opened(*arguments: Any, **named: Any) -> Any:
        with Path(*arguments).open(**named) as file:
            text = Text(file.read())
        return contextlib.nullcontext(SimpleNamespace(read=lambda: text))

    monkeypatch.setattr(messages, "open", opened, raising=False)
    monkeypatch.setattr(messages, "_lines", {})
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(message_names)
        assert half_read.wait(WAIT_S)
        second = message_names()
        looked.set()
        assert first.result() == second == names


def test_concurrent_to_dict_returns_complete_dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = FetchResponse.PartitionData(partition_index=3)
    topic = FetchResponse.FetchableTopicResponse(topic="t", partitions=[partition])
    message: Message = FetchResponse(responses=[topic])
    whole = to_dict(message, 12)
    monkeypatch.setattr(dictionary_form, "_shapes", {})
    layout_of = dictionary_form._layout
    monkeypatch.setattr(dictionary_form, "_layout", together(layout_of))
    assert all_at_once(lambda: to_dict(message, 12)) == [whole] * THREADS


def test_to_dict_is_complete_while_other_thread_builds_layout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message: Message = FetchResponse(error_code=3)
    whole = to_dict(message, 12)
    on_its_way, asked = threading.Event(), threading.Event()
    layout_of = dictionary_form._layout

    def held(*arguments: Any) -> Any:
        if not on_its_way.is_set():
            on_its_way.set()
            assert asked.wait(WAIT_S)
        return layout_of(*arguments)

    monkeypatch.setattr(dictionary_form, "_shapes", {})
    monkeypatch.setattr(dictionary_form, "_layout", held)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(to_dict, message, 12)
        assert on_its_way.wait(WAIT_S)
        second = to_dict(message, 12)
        asked.set()
        assert first.result() == second == whole
