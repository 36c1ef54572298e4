"""The process of a client for Python: ``python -m tests.clients.one_client CLIENT BOOTSTRAP``."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import logging
import sys
import traceback
import warnings
from typing import Any

DRIVERS = {"confluent-kafka": "confluent", "kafka-python": "kafka_python", "aiokafka": "aio"}
"""By the name of the distribution."""


async def serve(driver: Any) -> None:
    """Do each call and answer it, until there are no more."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        arguments = json.loads(line)
        try:
            answer = getattr(driver, arguments.pop("call"))(**arguments)
            if inspect.isawaitable(answer):
                answer = await answer
            said = {"answer": answer}
        except Exception as problem:
            traceback.print_exc()  # to the log, for who looks why
            said = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(said), flush=True)
    closing = driver.close()
    if inspect.isawaitable(closing):
        await closing


async def main(client: str, bootstrap: str) -> None:
    """What a client warns of in its own code is not of interest."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"tests.clients.drivers.{DRIVERS[client]}")
    await serve(module.Driver(bootstrap))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
