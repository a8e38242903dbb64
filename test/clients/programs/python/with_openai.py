from openai import OpenAI

client = OpenAI(max_retries=0)
print("status", client.models.with_raw_response.list().http_response.status_code, flush=True)
messages = [{"role": "user", "content": "Speak"}]
for chunk in client.chat.completions.create(model="gpt-5", messages=messages, stream=True):
    print(chunk.choices[0].delta.content, flush=True)
