"""What a server says of itself to whoever connects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heedful.policies.conventions.model import Conventions
from heedful.policies.remote.announcement import Served, announced, served
from heedful.policies.remote.connection import Address, Connection
from heedful.policies.remote.protocols import OTHER, other_line
from heedful.policies.remote.sessions import SESSIONS, Session


@dataclass(frozen=True)
class Greeting:
    """What a server said of itself.

    Attributes:
        metadata: All of it.
        announced: The conventions in it; ``None`` if it says none.
        served: The policy in it; empty if it says none.
    """

    metadata: Mapping[Any, Any]
    announced: Conventions | None
    served: Served = field(default_factory=Served)

    def same_policy(self, other: Greeting) -> bool:
        """Return whether ``other`` announces the same policy, as far as servers do."""
        return self.announced == other.announced and (self.served.policy, self.served.digest) == (
            other.served.policy,
            other.served.digest,
        )


def greet(address: Address) -> tuple[Connection, Session, Greeting]:
    """Connect to a server and listen to what it says of itself.

    Raises:
        RemoteError: It is not there, says nothing, or breaks its protocol.
        UserError: It announces conventions that do not hold together.
    """
    connection = Connection.open(address)
    try:
        if connection.protocol == OTHER[address.protocol]:
            raise connection.trouble(other_line(address))
        session: Session = SESSIONS[address.protocol](connection)
        metadata = session.greet()
        return connection, session, Greeting(metadata, announced(metadata, address.label), served(metadata))
    except BaseException:
        connection.close()
        raise
