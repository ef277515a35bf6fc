"""Call the web app with a client of gradio."""

try:
    from gradio_client import Client
except ImportError:
    raise SystemExit(
        "this example requires gradio_client; run: pip install gradio_client"
    ) from None

client = Client("http://127.0.0.1:7860", verbose=False)
texts = ["a cat sat", "a dog ran"]
answer = client.predict(texts=texts, kernel="ngram_overlap", q=2, api_name="/vendi_score_texts")
print(answer["VS_q2"], answer["sentence"])
client.close()
