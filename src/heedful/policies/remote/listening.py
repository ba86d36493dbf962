"""The socket on which a policy server listens: it outlives a process without free file descriptors."""

from __future__ import annotations

import errno
import socket
import time
from typing import Any

_PASSING = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
"""What accepting a client may fail with while too many are there; it passes as they leave."""

_PAUSE_S = 0.2


class ListeningSocket(socket.socket):
    """Waits where others give up listening for good: until there is room for one more client."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next client and its address.

        Raises:
            OSError: The socket was closed.
        """
        while True:
            try:
                return super().accept()
            except OSError as error:
                if error.errno not in _PASSING:
                    raise
                time.sleep(_PAUSE_S)


def listening(host: str, port: int) -> ListeningSocket:
    """Return a socket that listens at ``host:port``; port 0: one that is free.

    Raises:
        OSError: Nothing can listen there.
        OverflowError: There is no such port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family)
    return ListeningSocket(family, socket.SOCK_STREAM, 0, made.detach())
