"""A writer to be killed: ``killed_writer.py URL OUT``."""

import sys
from pathlib import Path

from heedful.spec.paraphrase import Cell
from heedful.workflows.paraphrase.generating import generate_paraphrases
from heedful.workflows.paraphrase.models import models_named

ORIGINALS = ["put the bowl on the stove", "lift the red cube"]
CELLS = [Cell("none", "hint"), Cell("addition_deletion", "hint"), Cell("addition_deletion", "coordination")]

if __name__ == "__main__":
    models = models_named("writer", sys.argv[1], verifier="checker")
    generate_paraphrases(ORIGINALS, Path(sys.argv[2]), models, CELLS)
