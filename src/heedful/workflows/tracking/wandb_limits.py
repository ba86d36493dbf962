"""How long wandb may take for what; in seconds."""

from __future__ import annotations

READY_WITHIN_S = 60.0
"""From its start until it is known whether there is a login; imports wandb, no network."""
INIT_S = 20.0
"""To reach the server at the beginning; after that the run is kept offline."""
UPLOAD_S = 30.0
"""To send what is left at the end; the rest stays on disk for ``wandb sync``."""
ENDS_WITHIN_S = INIT_S + UPLOAD_S + 20.0
"""From the last message to the end of the process, which may still be beginning."""
