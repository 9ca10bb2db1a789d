"""The transformer encoder: any Hugging Face model, seen as words to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from lacuner.corpus.sentence import Sentence
from lacuner.encoders.contract import Inputs
from lacuner.encoders.freezing import freeze as freeze_parts
from lacuner.encoders.hiding import checked_share, draw_hidden
from lacuner.encoders.pieces import Pieces, cut
from lacuner.encoders.pretrained import load_pretrained, load_untrained, quietly
from lacuner.encoders.subwords import Subwords
from lacuner.encoders.windows import Longs
from lacuner.encoders.word_shape import SHAPES
from lacuner.errors import UsageError
from lacuner.suggestions import unknown_name

POOLINGS = ("first", "last", "mean")
SHAPE_CHOICES = ("auto", "input", "output", "off")
_LONGEST_WINDOW = 512  # attention costs the square of it, so longer ones must be asked for
_SHAPE_WIDTH = 16
_ROUNDING = 1e-4  # what may differ between two ways to compute a vector, as a share of the largest


class TransformerEncoder(nn.Module):
    """Words to vectors by a pretrained transformer.

    A sentence with more pieces than the window is read in windows that overlap; a word takes its
    vector from the window in whose middle it stands. Nothing is cut off.

    The shape of words (case, digits) can be told to an encoder that does not see it, as a learned
    vector: at the `input`, added to the embedding of each piece and zero at first, so that the
    transformer begins as it was and learns to look at its neighbours' shapes too; or at the
    `output`, a short one beside the vector of the word, which costs nothing where the layers
    below are frozen.

    What is frozen takes no part in the backward pass: no gradient leads to it.

    Args:
        model: A model of `transformers` that returns `last_hidden_state`.
        tokeniser: Its fast tokeniser.
        name: Where it came from, for the description.
        pooling: The vector of a word is that of its `first` or `last` piece, or their `mean`.
        window: Pieces in a window, special ones included; None takes what the model can see, at
            most 512.
        overlap: Pieces that neighbouring windows share; None takes a tenth, so that a long text
            costs little more than its length, and a word still sees 25 pieces to either side.
        shape: Where the shape of words comes in: `input`, `output`, `off`, or `auto`: for a
            tokeniser that does not see case at the input, or at the output if layers are frozen.
        freeze: `none`, `embeddings`, `all`, or a number of lowest layers.
        hide: Share of the pieces that training hides behind the mask; shapes stay to be seen.

    Raises:
        UsageError: An argument that does not fit.
    """

    def __init__(
        self,
        model: Any,
        tokeniser: Any,
        *,
        name: str = "",
        pooling: str = "first",
        window: int | None = None,
        overlap: int | None = None,
        shape: str = "auto",
        freeze: str | int = "none",
        hide: float = 0.0,
    ) -> None:
        super().__init__()
        if pooling not in POOLINGS:
            raise UsageError(unknown_name("pooling", pooling, POOLINGS))
        if shape not in SHAPE_CHOICES:
            raise UsageError(unknown_name("choice of shape", shape, SHAPE_CHOICES))
        self.model = model
        self.subwords = Subwords(tokeniser)
        self.name, self.pooling, self.freeze = name, pooling, freeze
        self.hide = checked_share(hide)
        self.window = _checked_window(window, limit_of(model, tokeniser), self.subwords.specials)
        room = self.window - self.subwords.specials
        self.overlap = room // 10 if overlap is None else overlap
        if not 0 <= self.overlap < room:
            raise UsageError(f"An overlap of {overlap} does not fit a window of {self.window}.")
        if shape == "auto":
            placed = "input" if freeze in ("none", "embeddings") else "output"
            shape = placed if self.subwords.is_uncased else "off"
        self.shape = shape
        self.shapes = _shape_embedding(model, shape)
        self.width: int = model.config.hidden_size + (_SHAPE_WIDTH if shape == "output" else 0)
        freeze_parts(model, freeze)

    @classmethod
    def from_pretrained(
        cls, name: str, *, attention: str | None = None, known: Sequence[str] = (), **arguments: Any
    ) -> Self:
        """The encoder of a folder or of a name on the hub.

        Args:
            name: The folder or name.
            attention: `sdpa`, `eager`, …; None leaves the choice to `transformers`.
            known: Other names of encoders, for the message when there is no such model.
            arguments: See the class.

        Raises:
            UsageError: There is no such model, it cannot be loaded, or its vectors depend on the
                other sentences of a batch.
        """
        model, tokeniser = load_pretrained(name, attention=attention, known=known)
        encoder = cls(model, tokeniser, name=name, **arguments)
        encoder._check_padding()
        return encoder

    @classmethod
    def load(cls, description: dict[str, Any], folder: Path) -> Self:
        """The encoder that `save` wrote, with weights that are still to be loaded."""
        model, tokeniser = load_untrained(folder)
        return cls(model, tokeniser, **description)

    def save(self, folder: Path) -> dict[str, Any]:
        """Writes configuration and tokeniser; returns the description for `load`."""
        with quietly():
            self.model.config.save_pretrained(folder)
            self.subwords.tokeniser.save_pretrained(folder)
        return {
            "kind": "transformer",
            "name": self.name,
            "pooling": self.pooling,
            "window": self.window,
            "overlap": self.overlap,
            "shape": self.shape,
            "freeze": self.freeze,
        }

    def _check_padding(self) -> None:
        """Tries whether a sentence gets the same vectors alone and beside a longer one.

        Convolutions and sums over all places (ConvBERT, Funnel, …) look at padding in spite of the
        mask.
        """
        short, long = (Sentence(f"{count}", ("a",) * count) for count in (4, 16))
        with torch.no_grad(), quietly():
            self.eval()
            alone = self(self.collate(self.tokenise([short])))
            beside = self(self.collate(self.tokenise([short, long])))[:1, : len(short)]
        if (alone - beside).abs().max() > _ROUNDING * alone.abs().max():
            raise UsageError(
                f"The encoder '{self.name}' ({type(self.model).__name__}) looks at padding: a "
                "sentence would get other vectors beside a longer one than alone. Choose another."
            )

    def pretrained_parameters(self) -> list[nn.Parameter]:
        """The trainable parameters of the transformer."""
        return [parameter for parameter in self.model.parameters() if parameter.requires_grad]

    def tokenise(self, sentences: Sequence[Sentence]) -> list[Pieces]:
        """The pieces of each sentence."""
        self.subwords.learn(word for sentence in sentences for word in sentence.tokens)
        return [
            cut(self.subwords, sentence.tokens, self.pooling, self.window, self.overlap)
            for sentence in sentences
        ]

    def size(self, item: Pieces) -> int:
        """Its pieces."""
        return sum(map(len, item.windows))

    def collate(self, items: Sequence[Pieces]) -> Inputs:
        """The tensors of a batch.

        Returns:
            `pieces`, their `piece_shapes`, and `attention` [windows, pieces]; `sources`, the
            places of pooled pieces in the flattened windows, `targets`, the places of their words
            in the flattened batch, and, for the mean, `shares`, their parts of them [pooled];
            `shapes` of the words [batch, words].
        """
        pieces = filled([row for item in items for row in item.windows], self.subwords.padding)
        attention = [np.ones_like(row) for item in items for row in item.windows]
        shapes = filled([item.shapes for item in items], 0)
        sources, targets = [], []
        first_row = 0
        for number, item in enumerate(items):
            sources.append((item.rows + first_row) * pieces.shape[1] + item.columns)
            targets.append(item.words + number * shapes.shape[1])
            first_row += len(item.windows)
        inputs: dict[str, Any] = {
            "pieces": pieces,
            "piece_shapes": filled(
                [np.append(0, item.shapes)[row] for item in items for row in item.window_words], 0
            ),
            "attention": filled(attention, 0),
            "sources": np.concatenate(sources),
            "targets": np.concatenate(targets),
            "shapes": shapes,
        }
        if self.pooling == "mean":
            counts = np.bincount(inputs["targets"], minlength=shapes.size)
            inputs["shares"] = (1 / counts[inputs["targets"]]).astype(np.float32)
        return {name: torch.from_numpy(array) for name, array in inputs.items()}

    def forward(self, inputs: Inputs) -> Tensor:
        """The vectors of the words; those of padding are zero.  # [batch, words, width]"""
        batch, words = inputs["shapes"].shape
        if not len(inputs["pieces"]):
            return torch.zeros(batch, words, self.width, device=inputs["shapes"].device)
        hidden = self._hidden(inputs).flatten(0, 1)  # [windows * pieces, hidden]
        chosen = hidden.index_select(0, inputs["sources"])  # [pooled, hidden]
        if "shares" in inputs:
            chosen = chosen * inputs["shares"][:, None].to(chosen.dtype)
        pooled = chosen.new_zeros(batch * words, chosen.shape[1])
        vectors = pooled.index_add(0, inputs["targets"], chosen).view(batch, words, -1)
        if self.shapes is None or self.shape == "input":
            return vectors
        return torch.cat((vectors, self.shapes(inputs["shapes"]).to(vectors.dtype)), dim=-1)

    def _hidden(self, inputs: Inputs) -> Tensor:
        """What the transformer makes of the pieces.  # [windows, pieces, hidden]"""
        pieces = inputs["pieces"]
        if self.training and self.hide:
            hidden_ones = draw_hidden(inputs["piece_shapes"] > 0, self.hide)
            pieces = pieces.masked_fill(hidden_ones, self.subwords.mask)
        given = {"input_ids": pieces}
        if self.shapes is not None and self.shape == "input":
            embedded = self.model.get_input_embeddings()(pieces)
            given = {"inputs_embeds": embedded + self.shapes(inputs["piece_shapes"])}
        hidden: Tensor = self.model(**given, attention_mask=inputs["attention"]).last_hidden_state
        return hidden


def _shape_embedding(model: Any, shape: str) -> nn.Embedding | None:
    if shape == "off":
        return None
    if shape == "output":
        return nn.Embedding(len(SHAPES) + 1, _SHAPE_WIDTH, padding_idx=0)
    width = model.get_input_embeddings().weight.shape[1]
    embedding = nn.Embedding(len(SHAPES) + 1, width, padding_idx=0)
    nn.init.zeros_(embedding.weight)  # the pretrained model begins as it was
    return embedding


def filled(rows: Sequence[Longs], filling: int) -> Longs:
    """Rows of different lengths as one array."""
    table = np.full((len(rows), max(map(len, rows), default=0)), filling, dtype=np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return table


def limit_of(model: Any, tokeniser: Any) -> int | None:
    """How many pieces a model can see at once, special ones included; None when it has no limit."""
    limits = [tokeniser.model_max_length]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is not None and positions > 0:
        limits.append(positions)
        for name, module in model.named_modules():
            # RoBERTa and its kin count positions from the one after their padding.
            if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
                padding = -1 if module.padding_idx is None else module.padding_idx
                limits.append(module.num_embeddings - 1 - padding)
    limit = min(limits)
    return limit if limit < 10**6 else None


def _checked_window(window: int | None, limit: int | None, specials: int) -> int:
    if window is None:
        return min(limit or _LONGEST_WINDOW, _LONGEST_WINDOW)
    if limit is not None and window > limit:
        raise UsageError(f"A window of {window} pieces is more than the {limit} that it can see.")
    if window <= specials:
        raise UsageError(f"A window of {window} pieces has no room: {specials} are special ones.")
    return window
