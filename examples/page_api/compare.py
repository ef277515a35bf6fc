"""Compare two models that answered the same prompts, with the API of the web app."""

try:
    from gradio_client import Client
except ImportError:
    raise SystemExit(
        "this example requires gradio_client; run: pip install gradio_client"
    ) from None

rows = [
    {"model": model, "prompt": prompt, "text": f"{prompt} {answer}"}
    for prompt in ("a cat", "a dog")
    for model, answers in {"dull": ["sat"] * 4, "lively": ["sat", "ran", "hid", "ate"]}.items()
    for answer in answers
]
client = Client("http://127.0.0.1:7860", verbose=False)
answer = client.predict(sets=rows, api_name="/vendi_compare")
for row in answer["rows"]:
    print(f"{row['name']:<8} {row['VS']:.2f} of 4, mean of {answer['within']} prompts")
print(*answer["verdicts"])
client.close()
