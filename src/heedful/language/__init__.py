"""Text models: a frozen sentence embedding in numpy. Loads nothing until it is asked for a text."""

from heedful.language.minilm import WIDTH, encode

__all__ = ["WIDTH", "encode"]
