"""Count rows that are not near-duplicates of an earlier row, with faiss."""

import numpy as np

try:
    import faiss
except ImportError:
    raise SystemExit("this example requires faiss; run: pip install faiss-cpu") from None

X = np.random.default_rng(0).standard_normal((20_000, 64), dtype=np.float32)
X[1::10] = X[::10] + np.float32(0.01)  # 2,000 near-duplicates, each after its original
faiss.normalize_L2(X)
index = faiss.index_factory(64, "IVF128,Flat", faiss.METRIC_INNER_PRODUCT)
index.train(X)
index.add(X)
index.nprobe = 8  # number of the 128 cells that each query searches
similarity, nearest = index.search(X, 2)
near = (similarity >= 0.95) & (nearest < np.arange(len(X))[:, None])
print(np.count_nonzero(~near.any(axis=1)))
