"""The number: Hill numbers of eigenvalues, and the checks of matrices, rows and arguments."""
