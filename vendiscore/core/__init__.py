"""The definition of the Vendi Score, and validation of similarity matrices."""
