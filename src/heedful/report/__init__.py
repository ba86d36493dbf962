"""One static folder that opens from disk: the answer first, then everything behind it."""
