"""The process of a client for Python: ``python -m harness.clients.one_client CLIENT BOOTSTRAP``."""

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

from harness.clients.vocabulary import CALLS, ClientLacks

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
            answer = _method(driver, arguments.pop("call"))(**arguments)
            if inspect.isawaitable(answer):
                answer = await answer
            said = {"answer": answer}
        except ClientLacks as why:
            said = {"lacks": str(why)}
        except Exception as problem:  # noqa: BLE001 - whatever a client raises is its answer
            traceback.print_exc()  # into the log, for the analysis of a failure
            said = {"error": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()
    closing = driver.close()
    if inspect.isawaitable(closing):
        await closing


def _method(driver: Any, call: str) -> Any:
    """Raises ClientLacks."""
    if call not in CALLS or not hasattr(driver, call):
        raise ClientLacks(f"no call {call}")
    return getattr(driver, call)


async def main(client: str, bootstrap: str) -> None:
    """Serve the calls; the warnings of a client about its own code are ignored."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    warnings.simplefilter("ignore")
    module, driver = DRIVERS[client]
    drivers = importlib.import_module(f"harness.clients.drivers.{module}")
    await serve(getattr(drivers, driver)(bootstrap))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
