from google import genai

client = genai.Client()
question = {"model": "gemini-2.5-pro", "contents": "Speak"}
client.models.generate_content(**question)
print("status", 200, flush=True)
for chunk in client.models.generate_content_stream(**question):
    print(chunk.text, flush=True)
