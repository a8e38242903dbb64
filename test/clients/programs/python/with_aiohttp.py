import asyncio
import os
import sys
import aiohttp

headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}


async def main():
    async with aiohttp.ClientSession(headers=headers, trust_env="trust_env" in sys.argv) as session:
        async with session.get("https://api.openai.com/v1/models") as plain:
            print("status", plain.status, flush=True)
        async with session.get("https://api.openai.com/v1/events") as streamed:
            async for line in streamed.content:
                print(line.decode(), flush=True)


asyncio.run(main())
