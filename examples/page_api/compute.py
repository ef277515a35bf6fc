"""Compute any measures with the API of the web app."""

try:
    import httpx
except ImportError:
    raise SystemExit("this example requires httpx; run: pip install httpx") from None

rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]
for arguments in (
    'k="rbf", sigma=0.5, q=2, measures=["VS", "IntDiv"]',
    'measures={"Magnitude": {"t": [0.5, 1.0]}, "MagArea": {}, "t_conv": {}}',
):
    call = {"samples": rows, "arguments": arguments}
    response = httpx.post("http://127.0.0.1:7860/api/compute", json=call, timeout=60)
    print(response.raise_for_status().json()["values"])
