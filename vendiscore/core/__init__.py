"""The definition of the Vendi Score: Hill numbers of eigenvalues, and validation of matrices."""
