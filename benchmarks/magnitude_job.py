"""One job of `magnitude.py` in a process of its own: `python magnitude_job.py SIDE IN.npz OUT.npz`.

SIDE is "ours" or "magnipy"; each is imported only on its own side, since the peer needs another
environment. Only the work itself is timed, not imports; peak memory is the process's.
"""

import contextlib
import io
import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from pairs import record_mb

T_SHARES = (1.0, 0.5, 0.2)  # weights are compared at these shares of the convergence scale


def ours(X: np.ndarray, metric: str, n_scales: int, **extra: Any) -> dict[str, Any]:
    from vendiscore.magnitude.area import mag_area, mag_diff
    from vendiscore.magnitude.function import convergence_scale
    from vendiscore.magnitude.spaces_of_samples import as_space

    space = as_space(X, metric=metric)
    result = {"t_conv": convergence_scale(space)}
    result["MagArea"] = mag_area(space, n_scales=n_scales, t_cut=extra.get("t_cut"))
    if "scales" in extra:
        # The peer sorts the rows when it looks for duplicates, and its weights come in that order.
        order = np.unique(X, axis=0, return_index=True)[1]
        result["weights"] = np.stack([space.weights(t)[order] for t in extra["scales"]])
    if "reference" in extra:
        reference = as_space(extra["reference"], metric=metric)
        how = {"n_scales": n_scales, "t_cut": extra["reference_cut"]}
        result["MagDiff"] = mag_diff(space, reference, **how)
        result["absolute"] = mag_diff(space, reference, absolute=True, **how)
    methods = [solution.method for solution in space.solver.solutions]
    result["log"] = json.dumps({method: methods.count(method) for method in sorted(set(methods))})
    return result


def magnipy(X: np.ndarray, metric: str, n_scales: int, **extra: Any) -> dict[str, Any]:
    from magnipy import Diversipy, Magnipy

    log = io.StringIO()
    with contextlib.redirect_stdout(log):  # it prints when it perturbs a matrix
        space = Magnipy(X, n_ts=n_scales, metric=metric)
        result = {"t_conv": space.get_t_conv()}
        result["MagArea"] = space.MagArea()
        if "weights" in extra:
            scales = [share * result["t_conv"] for share in T_SHARES]
            weights = Magnipy(X, ts=np.array(scales), metric=metric).get_magnitude_weights()[0]
            result |= {"weights": weights.T, "scales": np.array(scales)}
        if "reference" in extra:
            sets = Diversipy([extra["reference"], X], n_ts=n_scales, metric=metric, ref_space=0)
            # The reference minus the samples; the paper and this package the other way round.
            difference = sets.MagDiffs(pairwise=False, scale=False, absolute_area=False)[1]
            result["MagDiff"] = -difference
            result["absolute"] = sets.MagDiffs(pairwise=False, scale=False)[1]
            result["reference_cut"] = sets._t_cut
    result["log"] = log.getvalue()
    return result


def main() -> None:
    side, source, target = sys.argv[1:]
    with np.load(source, allow_pickle=False) as arrays:
        jobs = json.loads(str(arrays["jobs"]))
        inputs = {name: arrays[name] for name in arrays.files}
    run = {"ours": ours, "magnipy": magnipy}[side]
    run(np.eye(3), "euclidean", 3)  # imports
    before = record_mb()
    results: dict[str, Any] = {"version": version("magnipy") if side == "magnipy" else ""}
    for i, job in enumerate(jobs):
        job = {name: inputs[value[1:]] if str(value).startswith("@") else value
               for name, value in job.items()}  # fmt: skip
        start = time.perf_counter()
        result = run(**job)
        results[f"{i}.seconds"] = time.perf_counter() - start
        results |= {f"{i}.{name}": value for name, value in result.items()}
    results["imported_mb"] = before
    results["peak_mb"] = record_mb()
    np.savez(target, **results)


if __name__ == "__main__":
    main()
