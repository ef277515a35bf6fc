"""Measures of samples: functions that are registered by name."""
