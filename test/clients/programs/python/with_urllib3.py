import os
import urllib3

pool = urllib3.PoolManager()
headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
print("status", pool.request("GET", "https://api.openai.com/v1/models", headers=headers, retries=False).status, flush=True)
