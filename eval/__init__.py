"""Replays scenarios with known outcomes over HTTP and judges the answers by rules and statistics. No model judges."""
