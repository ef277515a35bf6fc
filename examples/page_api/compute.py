"""Compute any measures with the API of the web app."""

try:
    from gradio_client import Client
except ImportError:
    raise SystemExit(
        "this example requires gradio_client; run: pip install gradio_client"
    ) from None

client = Client("http://127.0.0.1:7860", verbose=False)
rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
arguments = 'k="rbf", sigma=0.5, q=2, measures=["VS", "IntDiv"]'
answer = client.predict(rows, arguments, api_name="/compute")
print(answer["values"])
arguments = 'measures={"Magnitude": {"t": [0.5, 1.0]}, "MagArea": {}, "t_conv": {}}'
answer = client.predict(rows, arguments, api_name="/compute")
print(answer["values"])
client.close()
