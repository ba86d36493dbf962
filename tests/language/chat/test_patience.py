import pytest

from heedful.language.chat import Busy, Reply, Sampling
from heedful.language.chat_patience import PatientChat
from heedful.spec.errors import UserError


class Scripted:
    def __init__(self, *ends: Reply | Exception) -> None:
        self.ends = list(ends)

    def complete(self, system: str, user: str, sampling: Sampling) -> Reply:
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


YES = Reply("yes", "complete")


def test_waits_double_up_to_a_limit_and_follow_the_service_s_wish() -> None:
    waits: list[float] = []
    ends = [Busy("x"), Busy("x"), Busy("x", 0.0), Busy("x", 500.0), Busy("x"), YES]
    chat = PatientChat(Scripted(*ends), "m", 6, 1.0, 9.0, waits.append)
    assert chat.complete("s", "u", Sampling()) == YES
    assert waits == [1, 2, 0, 9, 9]


def test_a_mistake_is_not_repeated_and_a_pause_may_give_up() -> None:
    class GaveUp(Exception):
        pass

    def give_up(seconds: float) -> None:
        raise GaveUp

    with pytest.raises(UserError, match="no such model"):
        PatientChat(Scripted(UserError("no such model"), YES), "m").complete("s", "u", Sampling())
    with pytest.raises(GaveUp):
        PatientChat(Scripted(Busy("x"), YES), "m", pause=give_up).complete("s", "u", Sampling())


def test_after_the_last_try_nobody_waits() -> None:
    waits: list[float] = []
    chat = PatientChat(Scripted(Busy("a"), Busy("b")), "m at h", 2, pause=waits.append)
    with pytest.raises(UserError, match=r"m at h did not answer in 2 tries; the last time: b\."):
        chat.complete("s", "u", Sampling())
    assert waits == [1.0]
