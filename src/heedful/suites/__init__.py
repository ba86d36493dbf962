"""Suites: what is asked, in which scene, and what the answers add up to."""
