import asyncio
import os
import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

headers = {"authorization": f"Bearer {os.environ['ACME_TOKEN']}"}


async def show(progress, total, message):
    print(message, flush=True)


async def main():
    async with httpx2.AsyncClient(headers=headers) as client:
        async with streamable_http_client("https://mcp.acme.example/mcp", http_client=client) as (read, write):
            async with ClientSession(read, write) as session:
                await session.initialize()
                print("status", 200, flush=True)
                result = await session.call_tool("speak", {}, progress_callback=show)
                print(result.content[0].text, flush=True)


asyncio.run(main())
