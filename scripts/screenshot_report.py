"""Takes a picture of a report with an installed Chromium or Chrome: PAGE.html OUT.png [WIDTH [HEIGHT]]."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


def screenshot(page: Path, out: Path, width_px: int = 1280, height_px: int = 960) -> None:
    """Write what a window of the given size shows of ``page`` to ``out`` (PNG).

    Headless Chromium makes no window narrower than 500 px, so a phone is shown in a frame
    of its width and the rest of the picture is white.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit(f"No browser found; install one of: {', '.join(BROWSERS)}.")
    if not page.is_file():
        raise SystemExit(f"{page} does not exist.")
    with tempfile.TemporaryDirectory() as profile:
        address = page.resolve().as_uri()
        if width_px < 500:
            frame = Path(profile) / "frame.html"
            frame.write_text(
                f'<body style="margin:0"><iframe src="{address}" scrolling="no" '
                f'style="border:0;width:{width_px}px;height:{height_px}px"></iframe>'
            )
            address = frame.as_uri()
        command = [browser, "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        command += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command += ["--allow-file-access-from-files", f"--user-data-dir={profile}/browser"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium refuses its sandbox to root
        size = f"--window-size={max(width_px, 500)},{height_px}"
        done = subprocess.run(
            [*command, size, f"--screenshot={out.resolve()}", address],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    if done.returncode != 0 or not out.exists():
        raise SystemExit(f"{browser} took no picture: {done.stderr.strip()[-300:]}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        raise SystemExit(__doc__)
    screenshot(Path(sys.argv[1]), Path(sys.argv[2]), *(int(n) for n in sys.argv[3:]))
