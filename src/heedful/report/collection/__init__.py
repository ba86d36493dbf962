"""Pages about what to collect: strategies compared, a bias mended."""
