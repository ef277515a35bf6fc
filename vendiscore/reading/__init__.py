"""Files as people have them: tables of unknown dialect, and which of their columns is meant."""
