import asyncio
import os
import websockets

headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}


async def main():
    # Renamed in version 14.
    name = "extra_headers" if int(websockets.__version__.split(".")[0]) < 14 else "additional_headers"
    async with websockets.connect("wss://api.openai.com/v1/realtime", **{name: headers}) as socket:
        print("status", 101, flush=True)
        async for message in socket:
            print(message, flush=True)


asyncio.run(main())
