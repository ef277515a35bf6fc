"""`size_of` counts the memory of an object, and each array once."""

import numpy as np
import pytest
import scipy.sparse as sp

from vendiscore import FeatureSimilarity
from vendiscore_page.inputs.visitor_samples import Samples
from vendiscore_page.serving.store import measure_size

X = np.zeros((1000, 50))


@pytest.mark.parametrize(
    "value",
    [
        X,
        [X, X, {"again": X}],
        (X[3:40], X.T, X[::2]),
        Samples(X, range(1000)),
        FeatureSimilarity(X),
        sp.csr_array(np.ones((200, 250))),
    ],
    ids=["array", "repeats", "views", "samples", "similarity", "sparse"],
)
def test_size_of_counts_arrays_once_in_any_container(value):
    assert X.nbytes <= measure_size(value) < 1.6 * X.nbytes


def test_size_of_counts_texts_and_reference_cycles():
    texts = ["a" * 1000, "b" * 1000]
    cyclic_list = [texts]
    cyclic_list.append(cyclic_list)
    assert 2000 < measure_size(cyclic_list) < 2600
    assert measure_size({"text": texts[0], "again": texts[0]}) < 1500
    assert measure_size(print) < 200
