"""Judges: a recorded rollout in, a verdict out; never a simulator."""
