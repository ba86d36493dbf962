import sys

import pytest

from heedful.language.chat_models import ModelChoice, connect, model_choice
from heedful.spec.errors import UserError


def test_a_provider_s_own_model_is_asked_there_with_its_own_key() -> None:
    assert model_choice("openai:gpt-x") == ModelChoice(
        "openai:gpt-x", "openai", "gpt-x", "https://api.openai.com/v1", "OPENAI_API_KEY"
    )
    gemini = model_choice(" gemini:gemini-x ")
    assert (gemini.name, gemini.provider, gemini.key_env) == ("gemini:gemini-x", "gemini", "GEMINI_API_KEY")
    assert model_choice("openai:gpt-x", api_key_env="WORK").key_env == "WORK"


def test_a_server_of_one_s_own_gets_no_key_that_was_not_meant_for_it() -> None:
    local = model_choice("llama3.1:8b", "http://localhost:8000/v1/")
    assert local == ModelChoice("llama3.1:8b", "openai", "llama3.1:8b", "http://localhost:8000/v1", "")
    assert model_choice("openai:m", "http://h:1/v1").key_env == ""
    assert model_choice("m", "http://h:1/v1", "MINE").key_env == "MINE"


@pytest.mark.parametrize("reference", ["gpt-x", "llama3:8b", "opnai:gpt-x"])
def test_a_bare_name_needs_an_address(reference: str) -> None:
    with pytest.raises(UserError, match=f"Where is the model '{reference}'.*--base-url"):
        model_choice(reference)


@pytest.mark.parametrize("reference", ["", " ", "openai:", "gemini: "])
def test_a_model_has_a_name(reference: str) -> None:
    with pytest.raises(UserError, match="has no name"):
        model_choice(reference)


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://h/v1", "http://", "http://h:port/v1", "http://[::1/v1", "/v1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="is not valid"):
        model_choice("m", url)


@pytest.mark.parametrize("url", ["http://u:pass@h/v1", "http://h/v1?key=1", "http://h/v1#x"])
def test_an_address_holds_no_secrets(url: str) -> None:
    with pytest.raises(UserError, match="keys go into variables") as caught:
        model_choice("m", url)
    assert "pass" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("reference", ["openai:m", "gemini:m"])
@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_missing_key_names_its_variable(reference: str, key: str | None) -> None:
    choice = model_choice(reference, api_key_env="MY_KEY")
    with pytest.raises(UserError, match="set the environment variable MY_KEY"):
        connect(choice, {} if key is None else {"MY_KEY": key})


@pytest.mark.parametrize("key", ["a b", "schlüssel", "a\nb"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(UserError, match="MY_KEY holds") as caught:
        connect(model_choice("openai:m", api_key_env="MY_KEY"), {"MY_KEY": key})
    assert key not in str(caught.value)


@pytest.mark.parametrize(("reference", "module"), [("openai:m", "openai"), ("gemini:m", "google")])
def test_a_missing_package_names_the_extra(
    reference: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n == module or n.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=r"heedful\[vlm\]"):
        connect(model_choice(reference, api_key_env="K"), {"K": "secret"})
