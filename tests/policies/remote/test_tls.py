"""``wss``, with certificates that the test makes itself, and what is said when one is not trusted."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile_servers import GOOD, answering
from websockets.sync.server import serve

from heedful.policies.references import load
from heedful.rollouts.loop import run_episode
from heedful.spec.case import Episode, PolicyEntry
from heedful.spec.errors import UserError

pytest.importorskip("cryptography", reason="the certificate is made with the package cryptography")
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from rollout_doubles import DoubleWorld, cases


def certificate(folder: Path, address: str) -> Path:
    """Write a certificate for ``address`` that signs itself, with its key; return the file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "heedful test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / f"{address}.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def tls_server() -> Iterator[Callable[[Path], str]]:
    """Return what starts an openpi server with a certificate and returns its reference."""
    servers = []

    def start(file: Path) -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        server = serve(
            answering({"actions": GOOD}), "127.0.0.1", 0, ssl=context, compression=None, max_size=None
        )
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        port = server.socket.getsockname()[1]
        return f"openpi://127.0.0.1:{port}?preset=openpi-libero&size=32&connect_s=5&tls=true"

    yield start
    for server in servers:
        server.shutdown()


def test_a_certificate_that_is_trusted_carries_an_episode(
    tls_server: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate(tmp_path, "127.0.0.1")
    ref = tls_server(file)
    with pytest.raises(UserError, match="certificate is not trusted .*SSL_CERT_FILE"):
        load(ref)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    row, _ = run_episode(DoubleWorld(), load(ref), Episode(cases(1)[0], PolicyEntry("x", "x")))
    assert (row.status, row.instruction_received) == ("finished", "red")


def test_a_certificate_for_another_machine_is_not_trusted(
    tls_server: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = certificate(tmp_path, "127.0.0.2")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(UserError, match="certificate is not trusted .*not valid for '127.0.0.1'"):
        load(tls_server(file))


def test_tls_and_plain_do_not_understand_each_other(
    tls_server: Callable[[Path], str], websocket_server: Callable[..., int], tmp_path: Path
) -> None:
    plain = websocket_server(answering({"actions": GOOD}))
    with pytest.raises(UserError, match="no TLS is spoken there .*without tls=true it is asked in plain"):
        load(f"openpi://127.0.0.1:{plain}?preset=openpi-libero&tls=true")
    with pytest.raises(UserError, match="speaks no WebSocket .*tls=true if it speaks wss"):
        load(tls_server(certificate(tmp_path, "127.0.0.1")).replace("tls=true", "tls=false"))
