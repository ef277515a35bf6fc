"""The server: its routes, who works when, what is kept, and what never gets in."""
