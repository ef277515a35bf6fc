"""Numbers of docs/papers.md, recomputed from the data."""

from collections import Counter

import numpy as np
import pytest

from vendiscore import compute


def test_jt_vae_molecules_match_scores_of_paper(jtvae_molecules):
    chem = pytest.importorskip("rdkit.Chem")
    order = np.random.default_rng(0).permutation(len(jtvae_molecules))[:1510]
    valid = [x for i in order if chem.MolFromSmiles(x := jtvae_molecules[i])][:1500]
    result = compute(valid, measures=["VS", "IntDiv"], k="morgan", radius=2, n_bits=1024)
    assert result["VS"] == pytest.approx(489.5, abs=12)  # three deviations of one draw
    assert result["IntDiv"] == pytest.approx(0.856, abs=0.004)


def test_odour_words_correlate_with_structure_as_in_paper(odor_words):
    pytest.importorskip("rdkit")
    common = Counter(word for _, words in odor_words for word in words).most_common(7)
    assert common[-1] == ("fatty", 401)
    names = sorted({word for _, words in odor_words for word in words})
    rng, scores = np.random.default_rng(0), []
    for word, count in common:
        rows = [row for row in odor_words if word in row[1]]
        rows = [rows[i] for i in rng.choice(count, min(count, 500), replace=False)]
        table = np.array([[name in words for name in names] for _, words in rows], dtype=float)
        smiles = [molecule for molecule, _ in rows]
        molecules = compute(smiles, k="morgan", radius=2, n_bits=1024)["VS"]
        scores.append([molecules, compute(table, k="cosine")["VS"]])
    r = np.corrcoef(np.transpose(scores))[0, 1]
    assert r == pytest.approx(0.55, abs=0.08)  # three deviations of one draw


def test_scores_of_texts_correlate_with_temperature(judged_answers):
    rows = [row for row in judged_answers if row["test"] == "decTest"]
    for source, expected in (("prompt_gen", 0.86), ("story_gen", 0.77)):
        sets = [row for row in rows if row["source"] == source]
        result = compute([row["responses"] for row in sets], details=True)["details"]["groups"]
        scores, truth = [row["VS"] for row in result], [row["label"] for row in sets]
        ranks = np.argsort(np.argsort([scores, truth], axis=1), axis=1)
        assert np.corrcoef(ranks)[0, 1] == pytest.approx(expected, abs=0.01)
