"""One self-contained HTML file about a set, and what it and the page are worded with."""
