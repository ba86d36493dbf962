"""Figures of the paraphrase page, each a function from values to SVG."""
