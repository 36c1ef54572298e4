"""The process of a client for Python: ``python -m labs.clients.one_client CLIENT BOOTSTRAP``."""

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

DRIVERS = {
    "confluent-kafka": ("confluent", "ConfluentDriver"),
    "kafka-python": ("kafka_python", "KafkaPythonDriver"),
    "aiokafka": ("aio", "AioDriver"),
}
"""By the name of the distribution: the module in ``drivers`` and its class."""


async def serve(driver: Any) -> None:
    """Answer each call until the input ends."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        arguments = json.loads(line)
        try:
            answer = getattr(driver, arguments.pop("call"))(**arguments)
            if inspect.isawaitable(answer):
                answer = await answer
            said = {"answer": answer}
        except Exception as problem:
            traceback.print_exc()  # into the log, for the analysis of a failure
            said = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(said), flush=True)
    closing = driver.close()
    if inspect.isawaitable(closing):
        await closing


async def main(client: str, bootstrap: str) -> None:
    """Serve the calls; the warnings of a client about its own code are ignored."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    warnings.simplefilter("ignore")
    module, driver = DRIVERS[client]
    drivers = importlib.import_module(f"labs.clients.drivers.{module}")
    await serve(getattr(drivers, driver)(bootstrap))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
