from anthropic import Anthropic

client = Anthropic(max_retries=0)
question = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": "Speak"}]}
print("status", client.messages.with_raw_response.create(**question).http_response.status_code, flush=True)
with client.messages.stream(**question) as stream:
    for text in stream.text_stream:
        print(text, flush=True)
