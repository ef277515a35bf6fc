"""The metric of torchmetrics: sums of fixed shape, synced between processes."""

import os
import pickle
import socket
import sys
from typing import Any

import clean_install
import numpy as np
import pytest

from vendiscore import SampleError, compute

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

from vendiscore.tools.integrations.torchmetrics import VendiScore  # noqa: E402

EXACT = 1e-12
ROWS = np.random.default_rng(0).standard_normal((60, 5)).astype(np.float32)
X = torch.tensor(ROWS)


def whole(n: int = 60, **options):
    return compute(ROWS[:n].astype(float), k="cosine", **options)


def updated(*batches, **options):
    metric = VendiScore(num_features=5, **options)
    for batch in batches:
        metric.update(batch)
    return metric


def test_it_has_the_score_of_all_that_was_added():
    metric = updated(X[:7], X[7:7], X[7:].double())
    value = metric.compute()
    assert (value.dtype, value.ndim) == (torch.float64, 0)
    assert float(value) == pytest.approx(whole()["VS"], rel=EXACT)
    assert (metric.products.dtype, metric.products.shape) == (torch.float64, (5, 5))


def test_several_orders_are_several_numbers():
    values = updated(X, q=[0, 0.5, 2, "inf"]).compute()
    expected = whole(q=[0, 0.5, 2, "inf"])
    assert {name: float(value) for name, value in values.items()} == pytest.approx(expected)


def test_a_sequence_has_its_orders_as_keys_and_a_single_order_is_a_tensor_without_one():
    assert list(updated(X, q=[1]).compute()) == ["VS_q1"]
    assert float(updated(X, q=2).compute()) == pytest.approx(whole(q=2)["VS_q2"], rel=EXACT)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_are_scored_too(n):
    assert float(updated(X[:n]).compute()) == pytest.approx(whole(n)["VS"], rel=1e-9)


def test_forward_gives_the_score_of_the_batch_and_adds_it():
    metric = VendiScore(num_features=5)
    assert float(metric(X[:20])) == pytest.approx(whole(20)["VS"], rel=EXACT)
    metric(X[20:])
    assert float(metric.compute()) == pytest.approx(whole()["VS"], rel=EXACT)
    metric.reset()
    assert int(metric.count) == 0


def test_metrics_are_merged_and_pickled():
    one, other = updated(X[:20]), updated(X[20:])
    there = pickle.loads(pickle.dumps(other))
    one.merge_state(there)
    assert float(one.compute()) == pytest.approx(whole()["VS"], rel=EXACT)


def test_embeddings_of_a_network_are_added_without_gradients():
    network = torch.nn.Linear(5, 3)
    metric = VendiScore(num_features=3)
    metric.update(network(X))
    assert not metric.products.requires_grad
    features = network(X).detach().numpy().astype(float)
    expected = compute(features, k="cosine")["VS"]
    assert float(metric.compute()) == pytest.approx(expected, rel=EXACT)
    assert updated(X.clone().requires_grad_()).compute().requires_grad is False


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (
            X[:, :3],
            ValueError,
            r"must be a tensor of shape \(n, 5\), because num_features=5, got shape \(60",
        ),
        (X[0], ValueError, r"got shape \(5,\); reshape"),
        (ROWS, ValueError, "got ndarray"),
        (0 * X, SampleError, "sample 0 of `batch` is a zero vector"),
        (X / 0, SampleError, "must be finite"),
    ],
)
def test_a_batch_that_cannot_be_used_is_not_added(batch, error, message):
    metric = updated(X[:20])
    with pytest.raises(error, match=message):
        metric.update(batch)
    assert float(metric.compute()) == pytest.approx(whole(20)["VS"], rel=EXACT)


def test_arguments_are_read():
    with pytest.raises(ValueError, match="`num_features` must be an integer of at least 1, got 0"):
        VendiScore(num_features=0)
    with pytest.raises(ValueError, match="`q` must be a number"):
        VendiScore(num_features=5, q=-1)


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric")
def test_no_embeddings_have_no_score():
    with pytest.raises(ValueError, match="no process has added embeddings"):
        VendiScore(num_features=5).compute()


def test_it_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    metric = VendiScore(num_features=5)
    steps = [metric(X[i : i + 20]) for i in (0, 20, 40)]
    for val in (None, steps):
        figure, ax = metric.plot(val)
        assert ax.figure is figure
        matplotlib.pyplot.close(figure)


def _rank(rank: int, port: int, queue: Any) -> None:
    """Return the result of one of two ranks; the second has seen nothing."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2
    )
    metric = updated(*([X[:20], X[20:]] if rank == 0 else []))
    value = float(metric.compute())
    with metric.sync_context():
        synced = int(metric.count)
    queue.put((rank, value, int(metric.count), synced))
    queue.close()
    queue.join_thread()
    torch.distributed.barrier()
    os._exit(0)  # two that leave a group of gloo at once may wait for each other (torch 2.7)


@pytest.mark.filterwarnings("ignore")  # of processes that start and stop
def test_two_ranks_of_which_one_is_idle_find_the_same_number(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    ranks = [context.Process(target=_rank, args=(rank, port, queue)) for rank in (0, 1)]
    # torchmetrics imports what it finds, which takes most of the time.
    needed = str(clean_install.link_base_packages("torch", "torchgen", "torchmetrics"))
    path = [needed if entry == str(clean_install.SITE) else entry for entry in sys.path]
    monkeypatch.setattr(sys, "path", path)
    for process in ranks:
        process.start()
    result = sorted(queue.get(timeout=120) for _ in ranks)
    for process in ranks:
        process.join(timeout=60)
    for (_, value, count, synced), own in zip(result, (60, 0), strict=True):
        assert value == pytest.approx(whole()["VS"], rel=EXACT)
        assert count == own
        assert synced == 60
