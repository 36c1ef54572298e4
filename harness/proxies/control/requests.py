"""Requests and answers as JSON, and what goes wrong with them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from harness.proxies.control.errors import (
    BadBody,
    NoSuchMethod,
    NoSuchPath,
    Refused,
    TookTooLong,
    as_refused,
)
from harness.proxies.control.guard import require_allowed

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
TIMEOUT_S = 25
BODY_BYTES = 1 << 20


async def body(request: web.Request) -> Any:
    """The JSON of a body, whatever its content type says; raises BadBody."""
    try:
        return json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise BadBody(str(error)) from None


def answer(value: Any, status: int = 200) -> web.Response:
    return web.json_response(value, status=status)


def done() -> web.Response:
    return web.Response(status=204)


def refusing(token: str | None) -> Any:
    """The middleware that answers every refusal as toxiproxy does."""

    @web.middleware
    async def handle(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            headers = request.headers
            require_allowed(headers.get("User-Agent", ""), headers.get("Authorization", ""), token)
            async with asyncio.timeout(TIMEOUT_S):
                return await handler(request)
        except Exception as error:
            refused = _refused(request, error)
            if refused is None:
                raise
            return _as_answer(refused)

    return handle


def _refused(request: web.Request, error: Exception) -> Refused | None:
    if isinstance(error, web.HTTPNotFound):
        return NoSuchPath(request.path)
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods))
        return NoSuchMethod(f"{request.method} {request.path}; there is {allowed}")
    if isinstance(error, web.HTTPRequestEntityTooLarge):
        return BadBody(f"more than {BODY_BYTES} bytes")
    if isinstance(error, TimeoutError):
        return TookTooLong(f"more than {TIMEOUT_S} s")
    return as_refused(error)


def _as_answer(refused: Refused) -> web.Response:
    response = answer(refused.to_json(), refused.status)
    if refused.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response
