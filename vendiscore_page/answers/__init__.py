"""Results of the web app and its API as JSON values, computed from samples and settings."""
