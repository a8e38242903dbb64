import asyncio
import os
import httpx

headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}


async def main():
    async with httpx.AsyncClient(headers=headers) as client:
        print("status", (await client.get("https://api.openai.com/v1/models")).status_code, flush=True)
        async with client.stream("GET", "https://api.openai.com/v1/events") as streamed:
            async for line in streamed.aiter_lines():
                print(line, flush=True)


with httpx.Client(headers=headers) as client:
    client.get("https://api.openai.com/v1/models").raise_for_status()
asyncio.run(main())
