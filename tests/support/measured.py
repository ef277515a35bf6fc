"""Measures that any vectors have one by one, where nothing is said but how they are compared."""

from vendiscore.measures.registry import Measure, list_measures


def of_vectors(measure: Measure) -> bool:
    """Whether it is of any vectors, and needs nothing to be said for each."""
    return measure.needs != "samples" and "quality" not in measure.options


PLAIN = [
    each.name
    for each in list_measures()
    if of_vectors(each) and not (each.groups or each.references)
]
