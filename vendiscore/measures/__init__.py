"""Measures by name, and the Subject that they are functions of: samples and their views."""
