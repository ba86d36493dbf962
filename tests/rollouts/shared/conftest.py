"""Makes the doubles of this folder importable, in worker processes, too."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
