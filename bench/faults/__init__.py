"""Faults on purpose, for benches."""
