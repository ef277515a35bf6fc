"""The definition of the Vendi Score: Hill numbers of eigenvalues, and the checks of matrices."""
