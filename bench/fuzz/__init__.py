"""Fuzzing, guided by coverage, of everything that reads what strangers write."""
