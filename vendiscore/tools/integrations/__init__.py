"""Metrics, rewards and losses for evaluation harnesses and training libraries."""
