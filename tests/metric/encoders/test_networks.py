"""Loading and inference of networks, restoration of the training mode, and pooling."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from vendiscore.encoders import networks
from vendiscore.encoders.networks import (
    ModelFiles,
    Network,
    describe_network,
    has_modules_file,
    pick_device,
    pick_dtype,
    pool,
    resolve_model_files,
)

torch = pytest.importorskip("torch")
CPU = torch.device("cpu")
HIDDEN = torch.arange(24.0).reshape(2, 3, 4)


def test_pick_device_prefers_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device(None, "text").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device(None, "text").type == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert pick_device(None, "text") == CPU
    assert pick_device("cpu", "text") == CPU


@pytest.mark.parametrize("device", ["gpu", "meta", True, 3.5, "cuda:99"])
def test_pick_device_rejects_invalid_devices(device):
    with pytest.raises(ValueError, match=r"`device` must be a torch device .* pass 'cpu'"):
        pick_device(device, "text")


def test_half_precision_requires_gpu():
    gpu = torch.device("cuda")
    assert (
        pick_dtype(None, CPU) is pick_dtype(False, CPU) is pick_dtype(False, gpu) is torch.float32
    )
    assert pick_dtype(None, gpu) is pick_dtype(True, gpu) is torch.float16
    with pytest.raises(ValueError, match="`half` must be False on a CPU"):
        pick_dtype(True, CPU)
    with pytest.raises(TypeError, match="`half` must be True or False"):
        pick_dtype("yes", CPU)
    files = resolve_model_files("a", "main", "text", "cpu", None)
    assert files == ModelFiles("a", "main", "text", CPU, torch.float32)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_pool_reduces_token_states(dtype):
    output = SimpleNamespace(last_hidden_state=HIDDEN.to(dtype), pooler_output=HIDDEN[:, 1] * 2)
    assert torch.equal(pool(output, "cls"), HIDDEN[:, 0].to(dtype))
    assert torch.equal(pool(output, "mean"), HIDDEN.mean(dim=1))
    assert torch.equal(pool(output, "pooler"), HIDDEN[:, 1] * 2)
    mask = torch.tensor([[1, 1, 0], [0, 0, 1]])
    expected = torch.stack([HIDDEN[0, :2].mean(dim=0), HIDDEN[1, 2]])
    assert torch.allclose(pool(output, "mean", mask), expected)


def test_pool_returns_tensor_outputs_unpooled():
    assert torch.equal(pool((HIDDEN[:, 0], "rest"), "cls"), HIDDEN[:, 0])
    assert torch.equal(pool(HIDDEN[:, 0, :, None, None], None), HIDDEN[:, 0])
    assert pool(HIDDEN, None).shape == (2, 3, 4)  # rejected later, with its shape


@pytest.mark.parametrize(
    ("output", "pooling", "message"),
    [
        (SimpleNamespace(last_hidden_state=HIDDEN), "pooler", "a model with a pooled output"),
        (SimpleNamespace(pooler_output=HIDDEN), "cls", "one hidden state per token"),
        (SimpleNamespace(last_hidden_state=HIDDEN[0]), "mean", "one hidden state per token"),
    ],
)
def test_pool_rejects_output_without_required_states(output, pooling, message):
    with pytest.raises(ValueError, match=f"`pooling='{pooling}'` requires .*{message}"):
        pool(output, pooling)


def test_describe_network_returns_class_and_files():
    model = torch.nn.Linear(2, 2)
    assert describe_network(model) == {"model": "Linear", "model_path": None, "revision": None}
    model.config = SimpleNamespace(_name_or_path="a/b", _commit_hash="abc")
    assert describe_network(model) == {"model": "Linear", "model_path": "a/b", "revision": "abc"}


class Noisy(torch.nn.Module):
    """Network that doubles its input, with dropout in training mode."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(2.0))
        self.inner = torch.nn.Dropout(0.5)

    def forward(self, X):
        return self.inner(X * self.weight)


def make_network(model, device=None):
    return Network(model, device, {"a": 1}, lambda batch: torch.tensor(batch), model)


@pytest.mark.parametrize("training", [True, False])
def test_inference_mode_disables_dropout_and_restores_training_mode(training):
    model = Noisy().train(training)
    model.inner.train(not training)
    with make_network(model).inference_mode([], {}) as (encode, settings):
        assert not model.training
        assert not model.inner.training
        result = encode([[1.0, 2.0]] * 50)
    assert torch.equal(result, torch.tensor([[2.0, 4.0]] * 50))
    assert not result.requires_grad
    assert (model.training, model.inner.training) == (training, not training)
    assert settings == {"a": 1, "device": "cpu", "half": False}
    assert networks._modes_in_use == {}


def test_training_mode_is_restored_after_last_user():
    model = Noisy().train()
    first, second = (
        make_network(model).inference_mode([], {}),
        make_network(model).inference_mode([], {}),
    )
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not model.training
    second.__exit__(None, None, None)
    assert model.training


def test_training_mode_is_restored_after_error():
    model = Noisy().train()
    with pytest.raises(KeyError), make_network(model).inference_mode([], {}):
        raise KeyError
    assert model.training


def test_network_is_shared_by_threads():
    model = Noisy().train()
    failures = []

    def run_inference():
        for _ in range(20):
            with make_network(model).inference_mode([], {}) as (encode, _):
                if not torch.equal(encode([[1.0] * 20]), torch.full((1, 20), 2.0)):
                    failures.append(1)

    threads = [threading.Thread(target=run_inference) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert model.training


def test_network_on_chosen_device_stays_in_evaluation_mode():
    model = Noisy().train()
    make_network(model, CPU)
    assert not model.training


def test_inputs_are_cast_to_network_precision():
    model = Noisy().double()
    network_inputs = {}

    def embed(inputs):
        network_inputs.update(inputs)
        return inputs["x"]

    network_under_test = Network(model, CPU, {}, lambda batch: batch[0], embed)
    with network_under_test.inference_mode([], {}) as (encode, _):
        encode([{"x": torch.ones(1, 2), "ids": torch.ones(1, 2, dtype=torch.long), "name": "a"}])
    assert network_inputs["x"].dtype == torch.float64
    assert network_inputs["ids"].dtype == torch.long
    assert network_inputs["name"] == "a"


def test_digest_depends_on_weights():
    first_model, second_model = Noisy(), Noisy()
    assert make_network(first_model).digest() == make_network(second_model).digest()
    assert (
        make_network(first_model.half()).digest() == make_network(second_model).digest()
    )  # 2 is exact in float16 and float32
    with torch.no_grad():
        second_model.weight += 1
    assert make_network(first_model).digest() != make_network(second_model).digest()


def test_has_modules_file_checks_folder(tmp_path):
    files = resolve_model_files(tmp_path, None, "text", "cpu", None)
    assert not has_modules_file(files)
    (tmp_path / "modules.json").write_text("[]")
    assert has_modules_file(files)


def test_has_modules_file_checks_hub_and_warns_if_offline(monkeypatch):
    hub = pytest.importorskip("huggingface_hub")
    errors = pytest.importorskip("huggingface_hub.errors")
    files = resolve_model_files("owner/name", None, "text", "cpu", None)
    monkeypatch.setattr(hub, "hf_hub_download", lambda *args, **options: "path")
    assert has_modules_file(files)

    def raise_offline_error(*args, **options):
        raise errors.LocalEntryNotFoundError("offline")

    monkeypatch.setattr(hub, "hf_hub_download", raise_offline_error)
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *args, **options: None)
    with pytest.warns(
        UserWarning, match="cannot check whether the model 'owner/name' has a file modules.json"
    ):
        assert not has_modules_file(files)
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *args, **options: "known")
    assert not has_modules_file(files)


@pytest.mark.parametrize(
    ("missing", "pooling", "message"),
    [
        ([], "pooler", ""),
        (["pooler.dense.weight"], "mean", ""),
        (["pooler.dense.weight"], "pooler", "`pooling='pooler'` requires trained weights"),
        (["layer.1.weight", "layer.2.weight"], "mean", r"lacks 2 of them \(layer.1.weight"),
        (["layer.1.weight", "pooler.bias"], "cls", r"lacks 1 of them \(layer.1.weight"),
    ],
)
def test_check_weights_rejects_missing_weights(missing, pooling, message):
    def check():
        networks._check_weights(torch.nn.Linear(1, 1), "a/b", missing, pooling)

    if not message:
        check()
        return
    with pytest.raises(ValueError, match=message):
        check()


def test_network_rows_are_floats():
    with make_network(Noisy()).inference_mode([], {}) as (encode, _):
        np.testing.assert_array_equal(encode([[1.0]]).numpy(), [[2.0]])


@pytest.mark.parametrize(
    ("name", "expected"), [("query", "query: "), ("none", None), ("blank", None), (None, None)]
)
def test_default_prompt_uses_default_prompt_name(name, expected):
    model = SimpleNamespace(prompts={"query": "query: ", "blank": ""}, default_prompt_name=name)
    assert networks.default_prompt(model) == expected
