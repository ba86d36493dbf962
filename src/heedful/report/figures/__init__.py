"""Figures as SVG text: each function takes values and returns one self-contained ``<svg>``."""
