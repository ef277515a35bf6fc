"""The estimated time of a call grows with the causes that a caller can change."""

import pytest

pytest.importorskip("matplotlib")
from vendiscore.scoring.score_request import parse_request
from vendiscore_page.answers.call_cost import check_cost, count_group_sizes, estimate_seconds
from vendiscore_page.quotas import RefusedError


def estimate(arguments: dict, sizes: list[int], n_features: int = 0, n_characters: int = 0):
    return estimate_seconds(parse_request(arguments), sizes, n_features, n_characters)


def test_causes_are_separate_parts():
    assert set(estimate({"k": "rbf"}, [100])) == {"samples"}
    assert set(estimate({"k": "rbf", "ci": 0.95}, [100])) == {"samples", "intervals (`ci`)"}
    assert "scales of magnitude" in estimate({"measures": "MagArea"}, [100])
    assert "pairs of texts (BLEU)" in estimate({"measures": "SelfBLEU"}, [100], 0, 10_000)
    assert "pairs of texts (BLEU)" in estimate({"k": {"bleu": 1}}, [100], 0, 10_000)
    assert "permutations" in estimate({"k": "rbf", "measures": "BetweenVS"}, [50, 50])


@pytest.mark.parametrize(
    ("small", "large", "part"),
    [
        ({"measures": "MagArea"}, {"measures": "MagArea", "n_scales": 500}, "scales of magnitude"),
        (
            {"measures": "Magnitude", "t": 1},
            {"measures": "Magnitude", "t": list(range(300))},
            "scales of magnitude",
        ),
        (
            {"k": "rbf", "measures": "BetweenVS", "permutations": 9},
            {"k": "rbf", "measures": "BetweenVS", "permutations": 999},
            "permutations",
        ),
        ({"k": "rbf", "ci": 0.9}, {"k": "rbf", "ci": 0.9, "q": [1, 2, 3]}, "intervals (`ci`)"),
    ],
)
def test_larger_options_take_longer(small, large, part):
    assert estimate(small, [200])[part] < estimate(large, [200])[part]
    assert estimate(large, [200])[part] < estimate(large, [400])[part]


def test_features_take_less_time_than_pairs():
    pairs = estimate({"k": "rbf"}, [1_000])["samples"]
    assert estimate({"k": "cosine"}, [1_000], 16)["samples"] < pairs


def test_usual_calls_are_within_the_limit():
    for arguments in ({"k": "rbf", "ci": 0.95}, {"measures": ["MagArea", "t_conv"]}):
        check_cost(parse_request(arguments), [1_000], 0, 0)


def test_message_names_the_largest_part():
    request = parse_request({"k": "rbf", "measures": "BetweenVS", "permutations": 9_999})
    with pytest.raises(RefusedError, match="mostly for permutations; the limit is 20 seconds"):
        check_cost(request, [500, 500], 0, 0)


def test_samples_with_the_same_labels_are_a_group():
    assert count_group_sizes(4) == [4]
    assert count_group_sizes(4, None, ["a", "b", "a", "a"]) == [3, 1]
    assert count_group_sizes(4, ["x", "x", "y", "y"], ["a", "b", "a", "a"]) == [1, 1, 2]
