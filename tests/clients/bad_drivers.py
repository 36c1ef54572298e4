"""Drivers that do not do what a driver should: small programs, each wrong in its own way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.clients.session import ClientSession

READ = "import json, os, signal, sys, time\nline = sys.stdin.readline()\n"
ANSWER = "print(json.dumps({'answer': 1}), flush=True)\n"
REST = "sys.stdin.read()\n"

DIES = READ + "sys.stderr.write('out of luck\\n')\nsys.exit(7)\n"
IS_KILLED = READ + "os.kill(os.getpid(), signal.SIGKILL)\n"
HANGS = READ + "sys.stderr.write('thinking\\n')\nsys.stderr.flush()\ntime.sleep(600)\n"
WRITES_NO_JSON = READ + "print('hello', flush=True)\n" + REST
WRITES_NO_OBJECT = READ + "print('[1]', flush=True)\n" + REST
WRITES_TWO_KINDS = READ + 'print(\'{"answer": 1, "error": "x"}\', flush=True)\n' + REST
WRITES_WITHOUT_END = READ + "sys.stdout.write('x' * 100_000)\nsys.stdout.flush()\n" + REST
CLOSES_OUTPUT = READ + "os.close(1)\n" + REST
SPEAKS_UNASKED = READ + "print(json.dumps({'answer': 1}) + '\\nand more', flush=True)\n" + REST
FLOODS_ITS_LOG = READ + "sys.stderr.write('y' * 500_000 + 'end')\nsys.stderr.flush()\n" + ANSWER
IS_WELL = READ + ANSWER + REST


@contextmanager
def driver(program: str, folder: Path, answer_s: float) -> Iterator[ClientSession]:
    """The session of a program."""
    words = [sys.executable, "-S", "-E", "-c", program]
    with ClientSession(words, folder / "driver.log", answer_s=answer_s) as session:
        yield session
