import os
from urllib.request import Request, urlopen

headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
print("status", urlopen(Request("https://api.openai.com/v1/models", headers=headers)).status, flush=True)
with urlopen(Request("https://api.openai.com/v1/events", headers=headers)) as streamed:
    for line in streamed:
        print(line.decode(), flush=True)
