"""Readers of files as people have them: tables of unknown dialect, and the column to score."""
