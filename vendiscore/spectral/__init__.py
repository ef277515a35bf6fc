"""Spectra of similarity matrices, by the cheapest exact way, and what is read off them."""
