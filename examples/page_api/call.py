"""Call the API of the web app from Python."""

try:
    import httpx
except ImportError:
    raise SystemExit("this example requires httpx; run: pip install httpx") from None

url = "http://127.0.0.1:7860/api/vendi_score_texts"
texts = ["a cat sat", "a dog ran"]
response = httpx.post(url, json={"texts": texts, "kernel": "ngram_overlap", "q": 2}, timeout=60)
answer = response.raise_for_status().json()
print(answer["VS_q2"], answer["sentence"])
