"""Loading Hugging Face models: quietly, never with code of their own, with errors as sentences."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch

from lacuner.encoders.attention import attend_in_single_precision
from lacuner.errors import UsageError

_WEIGHTS = ("*.safetensors", "*.bin")
# What models call it: BERT and its kin; DistilBERT, ModernBERT and later ones; Funnel, GPT-2.
_ATTENTION_DROPOUTS = (
    "attention_probs_dropout_prob",
    "attention_dropout",
    "attn_dropout",
    "attn_pdrop",
)
_MARKS = "▁Ġ# "  # of spaces and of the inside of words: pieces of nothing else hold no text


def load_pretrained(
    name: str, *, attention: str | None = None, known: Sequence[str] = ()
) -> tuple[Any, Any]:
    """The model and the tokeniser of a folder or of a name on the Hugging Face hub.

    Args:
        name: A folder, or a name such as `bert-base-cased`.
        attention: The implementation of attention; None leaves the choice to `transformers`.
        known: Other names of encoders, for the message when there is no such model.

    Raises:
        UsageError: There is no such model, or it cannot be loaded.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    with quietly():
        place = place_of(name, known)
        try:
            config = AutoConfig.from_pretrained(place, trust_remote_code=False)
            _keep_all_attention(config)
            tokeniser = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
            model, report = AutoModel.from_pretrained(
                place,
                config=config,
                trust_remote_code=False,
                dtype=torch.float32,
                attn_implementation=attention,
                output_loading_info=True,
            )
        except Exception as error:
            raise cannot_load(name, error) from error
    check_tokeniser(name, tokeniser, model)
    _check_weights(name, report)
    return encoder_part(model), tokeniser


def load_untrained(folder: Path, *, attention: str | None = None) -> tuple[Any, Any]:
    """The model and the tokeniser that `save_pretrained` of config and tokeniser describe.

    The weights are random: a saved run has them elsewhere.

    Raises:
        UsageError: The folder is damaged.
    """
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    with quietly():
        try:
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
            tokeniser = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            model = AutoModel.from_config(  # type: ignore[no-untyped-call]
                config,
                trust_remote_code=False,
                dtype=torch.float32,
                attn_implementation=attention,
            )
        except Exception as error:
            raise cannot_load(str(folder), error) from error
    check_tokeniser(str(folder), tokeniser, model)
    return encoder_part(model), tokeniser


def encoder_part(model: Any) -> Any:
    """What of a model turns pieces into vectors: no decoder, no pooler, no cache.

    Raises:
        UsageError: Its vectors would depend on the padding of the batch.
    """
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    if "attention_mask" not in inspect.signature(model.forward).parameters:
        raise UsageError(
            f"{type(model).__name__} takes no attention mask, so its vectors would depend on "
            "the other sentences of a batch. Choose another encoder."
        )
    # A class that can be built without its pooler can do without it.
    if "add_pooling_layer" in inspect.signature(type(model).__init__).parameters:
        model.pooler = None
    model.config.use_cache = False
    attend_in_single_precision(model)
    return model


def _keep_all_attention(config: Any) -> None:
    """No dropout within attention; that on the vectors stays.

    With it attention keeps tables of pieces × pieces for the backward pass; without it memory
    grows with the length of a sentence and not with its square.
    """
    for name in _ATTENTION_DROPOUTS:
        if hasattr(config, name):
            setattr(config, name, 0.0)


@contextmanager
def quietly() -> Iterator[None]:
    """Keeps `transformers` from writing to the terminal meanwhile: errors come as exceptions."""
    import huggingface_hub.utils
    import transformers.utils.logging

    logging: Any = transformers.utils.logging  # neither module has types
    hub: Any = huggingface_hub.utils
    verbosity, hub_verbosity = logging.get_verbosity(), hub.logging.get_verbosity()
    bars, hub_bars = logging.is_progress_bar_enabled(), not hub.are_progress_bars_disabled()
    logging.set_verbosity_error()
    hub.logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(verbosity)
        hub.logging.set_verbosity(hub_verbosity)
        if bars:
            logging.enable_progress_bar()
        (hub.enable_progress_bars if hub_bars else hub.disable_progress_bars)()


def place_of(name: str, known: Sequence[str] = ()) -> str:
    """The folder of a model: the one that is named, or that of the cache of the hub.

    Raises:
        UsageError: There is no such model.
    """
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UsageError(f"The folder {name} holds no Hugging Face model: no config.json.")
        if not any(any(folder.glob(pattern)) for pattern in _WEIGHTS):
            raise UsageError(f"The folder {name} holds no weights, such as model.safetensors.")
        return str(folder)
    nearby = _close_names(name, folder, known)
    if folder.is_file():
        raise UsageError(f"{name} is a file. An encoder is a folder, or a name on the hub.")
    if folder.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise UsageError(f"There is no folder {name}.{nearby}")
    return name if _is_cached(name) else _on_the_hub(name, nearby)


def _close_names(name: str, folder: Path, known: Sequence[str]) -> str:
    """A question that names what the person may have meant, or nothing."""
    try:
        beside = [path for path in folder.parent.iterdir() if (path / "config.json").is_file()]
    except OSError:
        beside = []
    by_name = {path.name: str(path) for path in beside} | {name: name for name in known}
    close = get_close_matches(folder.name, by_name, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(by_name[match] for match in close)}?" if close else ""


def _is_cached(name: str) -> bool:
    from transformers import AutoConfig

    try:
        AutoConfig.from_pretrained(name, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError):
        return False
    return True


def _on_the_hub(name: str, nearby: str) -> str:
    """Asks the hub once, so that no answer does not take the many tries of a download."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    try:
        HfApi().model_info(name, timeout=10)
    except GatedRepoError:
        raise UsageError(
            f"The encoder '{name}' is open only to those whom its owner lets in: ask on its page, "
            "then log in with 'hf auth login'."
        ) from None
    except (HFValidationError, RepositoryNotFoundError):
        raise UsageError(
            f"There is no encoder '{name}', neither as a folder nor on the Hugging Face hub."
            f"{nearby}"
        ) from None
    except Exception as error:
        raise UsageError(
            f"There is no folder '{name}', and the Hugging Face hub, where it may be, cannot be "
            f"reached.{nearby or ' Name a folder, or go online.'}"
        ) from error
    return name


def cannot_load(name: str, error: Exception) -> UsageError:
    """What to say of a model that `transformers` does not load."""
    what = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    if "trust_remote_code" in str(error):
        what = "it comes with code of its own, which Lacuner never runs"
    elif "backend tokenizer" in str(error):
        what = "it has no tokeniser (tokenizer.json) that can be read"
    return UsageError(f"The encoder '{name}' cannot be loaded: {what}.")


def check_tokeniser(name: str, tokeniser: Any, model: Any) -> None:
    """Refuses a tokeniser that the model cannot work with.

    Args:
        name: Where both came from.
        tokeniser: The tokeniser.
        model: The model, which may have more word embeddings than the tokeniser has pieces.

    Raises:
        UsageError: It is not a fast one, it knows no words, or it has more pieces than the model.
    """
    if not tokeniser.is_fast:
        raise UsageError(f"The encoder '{name}' has no fast tokeniser (tokenizer.json).")
    numbers: dict[str, int] = tokeniser.get_vocab()
    # Where the files are missing, `transformers` makes a tokeniser that knows special pieces alone.
    special = set(tokeniser.all_special_tokens)
    if not any(piece.strip(_MARKS) for piece in numbers if piece not in special):
        raise UsageError(
            f"The encoder '{name}' has no tokeniser that knows any words: tokenizer.json, or the "
            "vocabulary, is missing or empty."
        )
    rows = _word_embeddings(model)
    most = max(numbers.values()) + 1
    if rows is not None and most > rows:
        raise UsageError(
            f"The tokeniser of the encoder '{name}' numbers {most:,} pieces, but the model knows "
            f"only {rows:,}: they do not belong together."
        )


def _word_embeddings(model: Any) -> int | None:
    """How many pieces a model has vectors for; None where it does not say."""
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError):
        return None


def _check_weights(name: str, report: dict[str, Any]) -> None:
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        raise UsageError(
            f"The encoder '{name}' lacks {len(missing)} of its weights, for instance {missing[0]}."
        )
