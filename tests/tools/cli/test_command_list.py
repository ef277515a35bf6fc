"""`vendiscore kernels` and `vendiscore measures` list and describe kernels and measures."""

import vendiscore


def test_kernels_and_measures_are_listed(run):
    out = run("kernels")[1]
    kernel_names = [kernel.name for kernel in vendiscore.list_kernels()]
    assert [line.split()[0] for line in out.splitlines()[1:]] == sorted(
        [*kernel_names, "semantic", "static"]
    )
    out = run("measures")[1]
    assert [line.split()[0] for line in out.split("\n\n")[0].splitlines()[1:]] == [
        measure.name for measure in vendiscore.list_measures()
    ]
    assert "-m text" in out.split("\n\n")[1]
    assert run("measures", "molecules")[1].startswith("-m molecules computes VS, IntDiv. ")


def test_kernels_command_names_encoder_of_embedding_kernels(run):
    lines = {line.split()[0]: line for line in run("kernels")[1].splitlines()}
    encoders = {
        "semantic": "sentence-transformers/all-MiniLM-L6-v2",
        "static": "wordllama",
        "text_embeddings": "SimCSE",
        "image_embeddings": "Inception v3",
    }
    for name, encoder in encoders.items():
        assert encoder in lines[name]
    for name in ("semantic", "static", "owner/model"):
        encoder = encoders.get(name, name)
        described = run("kernels", name)[1]
        assert described.startswith(f"k={name!r} is k='text_embeddings' with the model {encoder}.")
        assert f"model_path={encoder!r}" in described
        assert "simcse" not in described


def test_list_describes_named_kernel_or_measure(run):
    assert run("kernels", "rbf")[1] == f"{vendiscore.get_kernel('rbf').__doc__.strip()}\n"
    out = run("measures", "MagArea")[1]
    assert "n_scales=30" in out
    assert "area under the magnitude function" in out
    code, _, err = run("kernels", "rbff")
    assert code == 2
    assert "Did you mean 'rbf'?" in err
