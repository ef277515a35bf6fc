"""`VendiLoss`, which is −w · log VS of a batch, in a training loop."""

import copy
import math
import pickle
import sys

import pytest

from vendiscore import MissingPackageError, NotPSDError, SampleError, score, score_K
from vendiscore.support import optional

torch = pytest.importorskip("torch")

from vendiscore.tools.integrations.loss import VendiLoss, vendi_loss  # noqa: E402  (requires torch)

KERNELS = ["cosine", "rbf", "laplacian"]


def random_rows(n=9, d=4, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, generator=generator).requires_grad_()


@pytest.mark.parametrize("q", [0.5, 1, 2, "inf"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_loss_is_minus_weight_times_log_score(kernel, q):
    X = random_rows()
    expected = -0.3 * score(X, kernel, q=q).log()
    result = VendiLoss(kernel, q=q, weight=0.3)(X)
    assert result.item() == pytest.approx(expected.item(), rel=1e-6)
    expected_gradient, gradient = torch.autograd.grad(expected, X), torch.autograd.grad(result, X)
    torch.testing.assert_close(gradient, expected_gradient)


def test_loss_accepts_matrices_features_weights_and_options():
    X = random_rows().double()
    U = X / X.norm(dim=1, keepdim=True)
    p = torch.linspace(0.1, 1, 9, dtype=torch.float64) / 4.95
    expected = -float(score(X.detach(), "cosine", p=p).log())
    for result in (
        VendiLoss()(X, p),
        VendiLoss()(X, p=p.tolist()),
        VendiLoss(score_X=True)(U, p),
        VendiLoss(score_X=True, normalize=True)(X, p),
        VendiLoss("linear", normalize=True)(X, p),
        VendiLoss(score_K=True)(U @ U.T, p),
    ):
        assert result.item() == pytest.approx(expected, rel=1e-12)
    sigma = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    VendiLoss("rbf", sigma=sigma)(X).backward()
    assert sigma.grad > 0  # a larger bandwidth makes samples more similar


def test_rows_with_more_dimensions_are_flattened():
    X = random_rows(6, 12)
    assert VendiLoss()(X.reshape(6, 3, 2, 2)).item() == VendiLoss()(X).item()


@pytest.mark.parametrize("kernel", ["cosine", "rbf", "laplacian"])
def test_loss_does_not_depend_on_the_scale_of_the_batch(kernel):
    X = random_rows().double()
    loss = VendiLoss(kernel)
    assert loss(1e3 * X).item() == pytest.approx(loss(X).item(), rel=1e-9)


@pytest.mark.parametrize("q", [0.5, 1, 2, 3, "inf"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_identical_samples_have_zero_loss_and_gradient(kernel, q):
    for X in (random_rows(1, 4), random_rows(1, 4).detach()[[0] * 5].requires_grad_()):
        result = VendiLoss(kernel, q=q)(X)
        result.backward()
        assert abs(result.item()) <= 1e-12
        assert X.grad.abs().max() <= 1e-12


def test_orthogonal_samples_have_minimal_loss():
    for q in (0.5, 1, 2, 3, "inf"):
        assert VendiLoss(q=q)(torch.eye(8)).item() == pytest.approx(-math.log(8))


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_loss_has_the_dtype_of_the_samples_or_float32(dtype):
    X = random_rows().detach().to(getattr(torch, dtype)).requires_grad_()
    result = VendiLoss("rbf")(X)
    result.backward()
    assert result.dtype == (torch.float64 if dtype == "float64" else torch.float32)
    assert X.grad.dtype == X.dtype
    assert result.item() == pytest.approx(VendiLoss("rbf")(X.double()).item(), rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_autocast_affects_only_the_samples(kernel):
    layer = torch.nn.Linear(4, 5)
    X, loss = random_rows().detach(), VendiLoss(kernel)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        Z = layer(X)
        result = loss(Z)
        from_float32 = loss(Z.float())
    assert Z.dtype == torch.bfloat16
    assert result.item() == from_float32.item() == loss(Z).item()
    result.backward()
    assert layer.weight.grad.abs().sum() > 0


@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0")  # by torch
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_loss_works_in_compiled_functions():
    layer, loss, X = torch.nn.Linear(4, 3), VendiLoss(), random_rows().detach()

    def step(X):
        return layer(X).square().mean() + loss(layer(X))

    compiled = torch.compile(step, backend="eager")(X)
    compiled.backward()
    assert compiled.item() == pytest.approx(step(X).item())


def test_loss_has_no_parameters_and_is_copyable_and_picklable():
    loss = VendiLoss("rbf", sigma=2, q="inf", weight=0.5)
    assert repr(loss) == "VendiLoss('rbf', q=inf, weight=0.5)"
    assert repr(VendiLoss(score_K=True)) == "VendiLoss('score_K', q=1, weight=1)"
    assert not loss.state_dict()
    assert not list(loss.parameters())
    X = random_rows()
    for copied in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss)), loss.double()):
        assert copied(X).item() == loss(X).item()


def test_minimizing_the_loss_makes_vectors_orthogonal():
    X = (torch.ones(6, 6) + 0.01 * random_rows(6, 6).detach()).requires_grad_()
    optimizer, loss = torch.optim.Adam([X], lr=0.1), VendiLoss()
    assert loss(X).item() > -0.01
    for _ in range(150):
        optimizer.zero_grad()
        loss(X).backward()
        optimizer.step()
    assert loss(X).item() == pytest.approx(-math.log(6), abs=1e-3)


def test_gradient_separates_identical_samples_at_order_2():
    K = torch.ones(3, 3, dtype=torch.float64, requires_grad=True)
    VendiLoss(score_K=True, q=2)(K).backward()
    off_diagonal = K.grad[~torch.eye(3, dtype=torch.bool)]
    assert (off_diagonal > 0).all()  # gradient descent decreases similarities
    assert float(score_K((K - 0.1 * (K.grad + K.grad.T)).detach(), normalize=True)) > 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"q": 0}, ValueError, "`q` must be an order above 0, got 0"),
        ({"q": [1, 2]}, TypeError, r"`q` must be an order above 0, got \[1, 2\]"),
        ({"q": -1}, ValueError, "`q` must be an order above 0, got -1"),
        ({"weight": -1}, ValueError, "`weight` must be a finite number of at least 0, got -1"),
        ({"weight": math.nan}, ValueError, "`weight` must be a finite number of at least 0"),
        ({"psd": "cut"}, ValueError, "`psd` must be 'check' or 'clip', got 'cut'"),
        ({"k": "rbg"}, ValueError, "Did you mean 'rbf'"),
        ({"sigma": 1}, TypeError, "'sigma' is not an option of kernel 'cosine'"),
        ({"k": "rbf", "score_K": True}, ValueError, "`k` and `score_K` are mutually exclusive"),
    ],
)
def test_invalid_options_raise_when_created(options, error, message):
    with pytest.raises(error, match=message):
        VendiLoss(**options)


@pytest.mark.parametrize(
    ("options", "batch", "error", "message"),
    [
        ({}, [[1.0, 2.0]], TypeError, "must be a floating-point tensor, got list; pass torch"),
        ({}, torch.eye(2).long(), TypeError, "floating-point tensor, got torch.int64; pass"),
        ({}, torch.zeros(2, 2), SampleError, "sample 0 is a zero vector, which has no cosine"),
        ({}, torch.full((2, 2), math.nan), SampleError, "sample 0 of `samples` must be finite"),
        ({}, torch.ones(0, 2), ValueError, "`samples` is empty"),
        ({"score_K": True}, 2 * torch.eye(2), ValueError, "similarity 1 with itself, got 2"),
        ({"score_K": True}, 2 * torch.eye(3) - 1, NotPSDError, "smallest eigenvalue"),
        ({"k": lambda a, b: 1.0}, torch.eye(2), TypeError, "`k` must be a kernel that is diff"),
    ],
)
def test_invalid_batches_raise(options, batch, error, message):
    with pytest.raises(error, match=message):
        VendiLoss(**options)(batch)


def test_missing_torch_raises_with_an_installation_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "vendiscore.tools.integrations.loss")
    monkeypatch.setattr(optional, "find_spec", lambda name: None)
    with pytest.raises(
        MissingPackageError, match=r"VendiLoss needs .*'torch'.*: pip install torch"
    ):
        import vendiscore.tools.integrations.loss  # noqa: F401


def test_loss_depends_on_the_scale_only_with_explicit_bandwidth():
    X = random_rows().detach().double()
    explicit, fitted = VendiLoss("rbf", sigma=1.0), VendiLoss("rbf")
    for loss, depends_on_scale in ((explicit, True), (fitted, False)):
        large, small = loss(X).item(), loss(1e-4 * X).item()
        assert (small > large + 0.5) == depends_on_scale
        assert (small == pytest.approx(large, rel=1e-9)) != depends_on_scale


@pytest.mark.parametrize("q", [0.5, 1, 2, 3, math.inf])
@pytest.mark.parametrize(("n", "d"), [(9, 4), (4, 9), (1, 3)])
def test_function_equals_module_with_gradient(q, n, d):
    X = random_rows(n, d).detach().double().requires_grad_()
    X.data[0] = X.data[-1]  # a repeated sample, so that an eigenvalue is 0
    losses = [vendi_loss(X, q, weight=0.3), VendiLoss("cosine", q=q, weight=0.3)(X)]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(loss, X)[0] for loss in losses]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-12)


def test_function_keeps_at_least_single_precision():
    X = random_rows().detach()
    assert vendi_loss(X.half()).dtype == vendi_loss(X).dtype == torch.float32
    assert vendi_loss(X.half()).item() == pytest.approx(vendi_loss(X.half().double()).item())


@pytest.mark.parametrize("q", [1, 2, 3.0, math.inf])
def test_function_works_with_transforms_of_torch(q):
    batches = torch.stack([random_rows(6, 3, seed).detach() for seed in range(4)])
    expected = torch.stack([VendiLoss(q=q)(X) for X in batches])
    torch.testing.assert_close(vendi_loss(batches, q), expected)
    torch.testing.assert_close(torch.func.vmap(lambda X: vendi_loss(X, q))(batches), expected)
    gradients = torch.func.vmap(torch.func.grad(lambda X: vendi_loss(X, q)))(batches)
    for X, gradient in zip(batches, gradients, strict=True):
        X.requires_grad_()
        (expected_gradient,) = torch.autograd.grad(VendiLoss(q=q)(X), X)
        torch.testing.assert_close(gradient, expected_gradient)


@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0")  # by torch
def test_function_is_compiled_without_graph_breaks():
    compiled = torch.compile(vendi_loss, fullgraph=True, backend="aot_eager")
    X = random_rows()
    torch.testing.assert_close(compiled(X), vendi_loss(X))
    gradients = [torch.autograd.grad(function(X), X)[0] for function in (compiled, vendi_loss)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
@pytest.mark.parametrize("q", [1.0, 2.0, math.inf])
def test_invalid_vector_makes_only_the_loss_of_its_batch_nan(value, q):
    X = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(0))
    expected = vendi_loss(X, q=q)
    X[1, 2] = value
    losses = vendi_loss(X, q=q)
    assert losses.isnan().tolist() == [False, True, False]
    torch.testing.assert_close(losses[[0, 2]], expected[[0, 2]])
    assert vendi_loss(X[1], q=q).isnan()
