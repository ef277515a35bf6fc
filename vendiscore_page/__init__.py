"""A web app and an API that score sets of samples without code, for example as a Space."""
