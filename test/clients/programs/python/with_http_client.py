import os
from http.client import HTTPSConnection

connection = HTTPSConnection("api.openai.com", timeout=30)
headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
connection.request("GET", "/v1/models", headers=headers)
print("status", connection.getresponse().status, flush=True)
