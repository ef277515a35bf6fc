"""The number: Hill numbers of eigenvalues, with all checks of what they are taken from."""
