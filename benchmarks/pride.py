"""Seconds and memory of scoring 4,092 different paraphrases: cold, again, and pair by pair.

    python benchmarks/pride.py

Each command runs in a process of its own, its start included, with an empty cache the first
time. The texts are made from the 43 of the repository's small table by exchanging their nouns and
adding manners, so that no two are the same; the published 4,092 hold only 3,889 different ones.
The baseline is what the definition says literally, in the same run: every pair is parsed text
by text, every keyword of either side embedded anew, every tree compared; on some pairs, scaled up.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from itertools import product
from pathlib import Path
from time import perf_counter, process_time

from heedful.cli.threads import one_thread

PAIRS, NAIVE = 4092, 60
TABLE = Path(__file__).parents[1] / "tests" / "metrics" / "data" / "pride_pairs.csv"
NOUNS = ("bowl", "plate", "stove", "drawer", "cabinet", "bottle", "rack", "cup", "tray", "pan", "mug", "box")
MANNERS = (
    ",please,gently,now,slowly,if possible,without haste,with one arm,robot,next,"
    "very carefully,right away,then,as before,once more,for the guests"
).split(",")


def pairs() -> list[tuple[str, str]]:
    """Return the pairs (original, paraphrase); all paraphrases differ."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = [(row["original_instruction"], row["new_instruction"]) for row in csv.DictReader(file)]
    made: dict[str, str] = {}
    for manner, shift, (original, paraphrase) in product(MANNERS, range(len(NOUNS)), rows):
        turned = {noun: NOUNS[(i + shift) % len(NOUNS)] for i, noun in enumerate(NOUNS)}
        words = " ".join(turned.get(word, word) for word in paraphrase.lower().split())
        made.setdefault(f"{manner} {words}".strip(), original)
    texts = list(made)
    assert len(texts) >= PAIRS, f"only {len(texts)} different texts"
    return [(made[text], text) for text in texts[:: len(texts) // PAIRS][:PAIRS]]


def command(arguments: list[str], cache: Path) -> tuple[float, float, float]:
    """Return the seconds, the CPU seconds and the peak megabytes of ``heedful`` with these arguments."""
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    begun = perf_counter()
    with open(os.devnull, "wb") as nowhere:
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "heedful", *arguments],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 2),
            ],
        )
        _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"heedful {' '.join(arguments)} failed")
    per_mb = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / per_mb


def naive(some: list[tuple[str, str]]) -> float:
    """Return the CPU seconds of measuring each pair by itself, the models loaded beforehand."""
    from heedful.language import minilm, parse
    from heedful.metrics.pride import keyword_similarity, structural_similarity

    model = minilm._model(None)
    parse.parse(["put the bowl"])
    model.embedding("bowl")
    begun = process_time()
    for pair in some:
        original, paraphrase = (parse.parse([text])[0] for text in pair)
        vectors = []
        for one in (original, paraphrase):
            model._made.clear()
            vectors.append(minilm.encode(one.keywords))
        keyword_similarity(*vectors)
        structural_similarity(original.tree, paraphrase.tree)
    return process_time() - begun


def main() -> None:
    """Measure and print."""
    one_thread()
    made = pairs()
    texts = {text for pair in made for text in pair}
    print(f"{len(made)} pairs, {len(texts)} different texts")
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder) / "pairs.csv", Path(folder) / "cache"
        with file.open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened).writerows([("original", "paraphrase"), *made])
        asked = ["paraphrase", "score", str(file), "--out", str(Path(folder) / "scored.csv")]
        for name in ("cold", "again"):
            took_s, cpu_s, peak_mb = command(asked, cache)
            print(f"{name}: {took_s:.2f} s, of which CPU {cpu_s:.2f} s, {peak_mb:.0f} MB")
        kept = cache / "heedful" / "texts.sqlite"
        print(f"kept on disk: {kept.stat().st_size / 1e6:.1f} MB")
    took_s = naive(made[:: len(made) // NAIVE][:NAIVE])
    print(
        f"pair by pair, models loaded: {1e3 * took_s / NAIVE:.0f} ms of CPU a pair, "
        f"{took_s / NAIVE * PAIRS:.0f} s for {PAIRS} ({NAIVE} measured)"
    )


if __name__ == "__main__":
    main()
