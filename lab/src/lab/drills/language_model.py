"""A stand-in for a language model provider that accepts certain keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web


@dataclass
class ModelCompany:
    """`keys`: the valid API keys."""

    keys: set[str]
    url: str = ""
    responses: dict[str, int] = field(default_factory=dict)

    async def complete(self, request: web.Request) -> web.Response:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if key not in self.keys:
            return web.json_response({"error": {"message": "Incorrect API key provided."}}, status=401)
        self.responses[key] = self.responses.get(key, 0) + 1
        await request.read()
        choice = {"index": 0, "message": {"role": "assistant", "content": "Good day."}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}})


@asynccontextmanager
async def model_company(*keys: str) -> AsyncIterator[ModelCompany]:
    company = ModelCompany(set(keys))
    app = web.Application()
    app.router.add_post("/v1/chat/completions", company.complete)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    company.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield company
    finally:
        await asyncio.shield(runner.cleanup())
