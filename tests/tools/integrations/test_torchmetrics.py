"""The torchmetrics metric, whose state has a fixed shape and is synchronized between processes."""

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


def expected_scores(n: int = 60, **options):
    return compute(ROWS[:n].astype(float), k="cosine", **options)


def updated_metric(*batches, **options):
    metric = VendiScore(num_features=5, **options)
    for batch in batches:
        metric.update(batch)
    return metric


def test_metric_equals_score_of_all_batches():
    metric = updated_metric(X[:7], X[7:7], X[7:].double())
    value = metric.compute()
    assert (value.dtype, value.ndim) == (torch.float64, 0)
    assert float(value) == pytest.approx(expected_scores()["VS"], rel=EXACT)
    assert (metric.products.dtype, metric.products.shape) == (torch.float64, (5, 5))


def test_several_orders_return_a_dict():
    values = updated_metric(X, q=[0, 0.5, 2, "inf"]).compute()
    expected = expected_scores(q=[0, 0.5, 2, "inf"])
    assert {name: float(value) for name, value in values.items()} == pytest.approx(expected)


def test_list_of_orders_returns_a_dict_and_a_single_order_a_tensor():
    assert list(updated_metric(X, q=[1]).compute()) == ["VS_q1"]
    score = float(updated_metric(X, q=2).compute())
    assert score == pytest.approx(expected_scores(q=2)["VS_q2"], rel=EXACT)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_metric_of_few_samples_equals_compute(n):
    score = float(updated_metric(X[:n]).compute())
    assert score == pytest.approx(expected_scores(n)["VS"], rel=1e-9)


def test_forward_returns_the_batch_score_and_updates():
    metric = VendiScore(num_features=5)
    assert float(metric(X[:20])) == pytest.approx(expected_scores(20)["VS"], rel=EXACT)
    metric(X[20:])
    assert float(metric.compute()) == pytest.approx(expected_scores()["VS"], rel=EXACT)
    metric.reset()
    assert int(metric.count) == 0


def test_metrics_can_be_merged_and_pickled():
    metric, other_metric = updated_metric(X[:20]), updated_metric(X[20:])
    unpickled = pickle.loads(pickle.dumps(other_metric))
    metric.merge_state(unpickled)
    assert float(metric.compute()) == pytest.approx(expected_scores()["VS"], rel=EXACT)


def test_embeddings_are_added_without_gradients():
    network = torch.nn.Linear(5, 3)
    metric = VendiScore(num_features=3)
    metric.update(network(X))
    assert not metric.products.requires_grad
    features = network(X).detach().numpy().astype(float)
    expected = compute(features, k="cosine")["VS"]
    assert float(metric.compute()) == pytest.approx(expected, rel=EXACT)
    assert updated_metric(X.clone().requires_grad_()).compute().requires_grad is False


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
def test_invalid_batch_raises_and_is_not_added(batch, error, message):
    metric = updated_metric(X[:20])
    with pytest.raises(error, match=message):
        metric.update(batch)
    assert float(metric.compute()) == pytest.approx(expected_scores(20)["VS"], rel=EXACT)


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="`num_features` must be an integer of at least 1, got 0"):
        VendiScore(num_features=0)
    with pytest.raises(ValueError, match="`q` must be a number"):
        VendiScore(num_features=5, q=-1)


@pytest.mark.filterwarnings("ignore:The ``compute`` method of metric")
def test_compute_without_embeddings_raises():
    with pytest.raises(ValueError, match="no process has added embeddings"):
        VendiScore(num_features=5).compute()


def test_plot_returns_a_figure_and_axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    metric = VendiScore(num_features=5)
    steps = [metric(X[i : i + 20]) for i in (0, 20, 40)]
    for val in (None, steps):
        figure, ax = metric.plot(val)
        assert ax.figure is figure
        matplotlib.pyplot.close(figure)


def run_rank(rank: int, port: int, queue: Any) -> None:
    """Compute the metric in one of two ranks; the second rank adds no samples."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2
    )
    metric = updated_metric(*([X[:20], X[20:]] if rank == 0 else []))
    value = float(metric.compute())
    with metric.sync_context():
        synced = int(metric.count)
    queue.put((rank, value, int(metric.count), synced))
    queue.close()
    queue.join_thread()
    torch.distributed.barrier()
    os._exit(0)  # gloo may deadlock if both ranks exit at once (torch 2.7)


@pytest.mark.filterwarnings("ignore")  # warnings at start and exit of processes
def test_two_ranks_give_the_same_score_if_one_is_idle(monkeypatch):
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    ranks = [context.Process(target=run_rank, args=(rank, port, queue)) for rank in (0, 1)]
    # Hide optional packages from torchmetrics, because their imports are slow.
    package_folder = str(clean_install.link_base_packages("torch", "torchgen", "torchmetrics"))
    path = [package_folder if entry == str(clean_install.SITE) else entry for entry in sys.path]
    monkeypatch.setattr(sys, "path", path)
    for process in ranks:
        process.start()
    result = sorted(queue.get(timeout=120) for _ in ranks)
    for process in ranks:
        process.join(timeout=60)
    for (_, value, count, synced), expected_count in zip(result, (60, 0), strict=True):
        assert value == pytest.approx(expected_scores()["VS"], rel=EXACT)
        assert count == expected_count
        assert synced == 60
