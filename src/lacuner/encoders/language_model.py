"""Masked language models: any Hugging Face encoder with the head that fills gaps.

`augmentation` asks one what could stand in place of a word; `adaptation` trains one further.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.encoders import ENCODERS
from lacuner.encoders.attention import attend_in_single_precision
from lacuner.encoders.contract import Inputs
from lacuner.encoders.embedded import minilm_place
from lacuner.encoders.freezing import freeze as freeze_parts
from lacuner.encoders.pretrained import cannot_load, check_tokeniser, place_of, quietly
from lacuner.encoders.subwords import Subwords
from lacuner.encoders.transformer import filled, limit_of
from lacuner.encoders.windows import Longs
from lacuner.errors import UsageError

_ROUNDING = 1e-4  # what may differ between two ways to compute a score, as a share of the largest


class MaskedLanguageModel(nn.Module):
    """Scores what could stand at places of rows of pieces.

    Only the places that are asked for go through the last layer, which is as wide as the
    vocabulary: with 15 % of the pieces masked that saves most of its time and memory.

    Args:
        model: A model for masked language of `transformers`.
        tokeniser: Its fast tokeniser.
        name: Where it came from.
        fresh: Names of the parameters that the checkpoint did not have.

    Attributes:
        subwords: Cuts words into its pieces.
        mask: The piece that stands for a gap.
        limit: Most pieces in a row, special ones included; None when it has no limit.

    Raises:
        UsageError: The tokeniser has no piece for gaps, or the model no last layer.
    """

    def __init__(
        self, model: Any, tokeniser: Any, *, name: str = "", fresh: Collection[str] = ()
    ) -> None:
        super().__init__()
        if tokeniser.mask_token_id is None:
            raise UsageError(f"The tokeniser of '{name}' has no piece that stands for a gap.")
        if model.get_output_embeddings() is None:
            raise UsageError(f"'{name}' ({type(model).__name__}) has no layer that scores pieces.")
        self.model = model
        self.name = name
        self.subwords = Subwords(tokeniser)
        self.mask = int(tokeniser.mask_token_id)
        self.limit = limit_of(model, tokeniser)
        self._fresh = frozenset(fresh)

    @property
    def has_fresh_head(self) -> bool:
        """Whether the head begins at random, because the checkpoint had none."""
        return bool(self._fresh)

    @property
    def is_tied(self) -> bool:
        """Whether the last layer is the matrix of word embeddings."""
        last: Tensor = self.model.get_output_embeddings().weight
        return last is self.model.get_input_embeddings().weight

    def freeze(self, what: str | int) -> None:
        """Leaves parts below the head as they are; see `lacuner.encoders.freezing`."""
        freeze_parts(self.model.base_model, what)

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """The trainable parameters that the checkpoint had."""
        return [
            parameter
            for name, parameter in self.model.named_parameters()
            if parameter.requires_grad and name not in self._fresh
        ]

    def collate(self, rows: Sequence[Longs], places: Sequence[Longs]) -> Inputs:
        """The tensors of a batch.

        Args:
            rows: Pieces, special ones included.
            places: The places of each row that shall be scored.

        Returns:
            `pieces` and `attention` [rows, pieces]; `places` in the flattened rows [places].
        """
        pieces = filled(rows, self.subwords.padding)
        asked = [row * pieces.shape[1] + columns for row, columns in enumerate(places)]
        return {
            "pieces": torch.from_numpy(pieces),
            "attention": torch.from_numpy(filled([np.ones_like(row) for row in rows], 0)),
            "places": torch.from_numpy(np.concatenate(asked)),
        }

    def forward(self, inputs: Inputs) -> Tensor:
        """Scores of the vocabulary at the places that are asked for.  # [places, vocabulary]"""
        places = inputs["places"]

        def choose(layer: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
            return (given[0].flatten(0, -2).index_select(0, places),)  # [places, hidden]

        hook = self.model.get_output_embeddings().register_forward_pre_hook(choose)
        try:
            scores: Tensor = self.model(
                input_ids=inputs["pieces"], attention_mask=inputs["attention"]
            ).logits
        finally:
            hook.remove()
        return scores

    def save(self, folder: Path) -> None:
        """Writes a plain Hugging Face folder: configuration, weights, tokeniser."""
        with quietly():
            self.model.save_pretrained(folder)
            self.subwords.tokeniser.save_pretrained(folder)

    def check_padding(self) -> None:
        """Tries whether a row gets the same scores alone and beside a longer one.

        Raises:
            UsageError: It does not.
        """
        gap = np.array([self.mask], dtype=np.int64)
        short, long = (
            np.concatenate((self.subwords.before, np.repeat(gap, count), self.subwords.after))
            for count in (2, 8)
        )
        first = np.array([len(self.subwords.before)], dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        with torch.no_grad(), quietly():
            self.model.eval()
            alone = self(self.collate([short], [first]))
            beside = self(self.collate([short, long], [first, nothing]))
        if (alone - beside).abs().max() > _ROUNDING * alone.abs().max():
            raise UsageError(
                f"'{self.name}' ({type(self.model).__name__}) looks at padding: a sentence would "
                "get other words beside a longer one than alone. Choose another model."
            )


def load_language_model(name: str | Path, *, fresh_head: bool = False) -> MaskedLanguageModel:
    """The masked language model of a folder or of a name.

    Args:
        name: A folder, a name on the Hugging Face hub, or `minilm`.
        fresh_head: Take a checkpoint without a head as well, with a head that is still to be
            trained.

    Raises:
        UsageError: There is no such model, it cannot be loaded, its tokeniser does not fit, it
            is of another kind, or it has no head.
    """
    from transformers import MODEL_FOR_MASKED_LM_MAPPING as MASKED
    from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer

    name = str(name)
    if name in ENCODERS and ENCODERS[name].kind != "transformer":
        raise UsageError(f"'{name}' is no transformer, and no masked language model.")
    with quietly():
        place = place_of(minilm_place() if name == "minilm" else name, list(ENCODERS))
        try:
            config = AutoConfig.from_pretrained(place, trust_remote_code=False)
            if type(config) not in MASKED or config.is_encoder_decoder:
                raise UsageError(
                    f"'{name}' ({config.model_type}) cannot be a masked language model. Those are "
                    "encoders such as BERT, RoBERTa, DistilBERT and ALBERT."
                )
            tokeniser = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
            model, report = AutoModelForMaskedLM.from_pretrained(
                place,
                config=config,
                trust_remote_code=False,
                dtype=torch.float32,
                output_loading_info=True,
            )
        except UsageError:
            raise
        except Exception as error:
            raise cannot_load(name, error) from error
    check_tokeniser(name, tokeniser, model)
    attend_in_single_precision(model)
    fresh = _fresh_head(name, model, report["missing_keys"])
    if fresh and not fresh_head:
        raise UsageError(
            f"'{name}' has no head that fills gaps. Train one on text of yours: "
            f"'lacuner adapt TEXT --encoder {name} -o FOLDER' makes a folder that has it."
        )
    language_model = MaskedLanguageModel(model, tokeniser, name=name, fresh=fresh)
    language_model.check_padding()
    return language_model


def _fresh_head(name: str, model: Any, missing: Collection[str]) -> set[str]:
    """The parameters of the head that the checkpoint lacks."""
    below = [key for key in missing if key.startswith(f"{model.base_model_prefix}.")]
    if below:
        raise UsageError(f"'{name}' lacks {len(below)} of its weights, for instance {below[0]}.")
    return set(missing)
