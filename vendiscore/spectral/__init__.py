"""Spectra of similarity matrices, and the scores and leave-one-out scores computed from them."""
