import os
import requests

session = requests.Session()
session.headers["authorization"] = f"Bearer {os.environ['OPENAI_API_KEY']}"
print("status", session.get("https://api.openai.com/v1/models").status_code, flush=True)
for line in session.get("https://api.openai.com/v1/events", stream=True).iter_lines(chunk_size=1):
    print(line.decode(), flush=True)
