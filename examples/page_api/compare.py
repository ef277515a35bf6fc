"""Compare two models that answered the same prompts, with the API of the web app."""

try:
    import httpx
except ImportError:
    raise SystemExit("this example requires httpx; run: pip install httpx") from None

rows = [
    {"model": model, "prompt": prompt, "text": f"{prompt} {answer}"}
    for prompt in ("a cat", "a dog")
    for model, answers in {"dull": ["sat"] * 4, "lively": ["sat", "ran", "hid", "ate"]}.items()
    for answer in answers
]
response = httpx.post("http://127.0.0.1:7860/api/vendi_compare", json={"sets": rows}, timeout=60)
answer = response.raise_for_status().json()
for row in answer["rows"]:
    print(f"{row['name']:<8} {row['VS']:.2f} of 4, mean of {answer['within']} prompts")
print(*answer["verdicts"])
