"""``python -m heedful``: the command line without its script."""

from __future__ import annotations

from heedful.cli import main

if __name__ == "__main__":  # worker processes import this module, too
    main()
