"""From samples and settings to what the page and the API answer, as plain values."""
