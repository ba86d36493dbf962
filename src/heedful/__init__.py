"""heedful finds out whether a robot policy does what it is told."""

__version__ = "0.1.0"
