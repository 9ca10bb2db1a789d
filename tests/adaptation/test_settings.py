"""Settings of an adaptation that make no sense are refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from lacuner.adaptation.settings import AdaptationSettings
from lacuner.errors import UsageError
from lacuner.settings import build, with_assignments


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("steps=0", "steps is 0, but must be at least 1"),
        ("evaluations=0", "evaluations is 0, but must be at least 1"),
        ("length=-1", "length is -1, but must be at least 1"),
        ("minutes=nan", "minutes is nan, but must be a number above 0"),
        ("minutes=inf", "minutes is inf, but must be a number above 0"),
        ("minutes=0", "minutes is 0, but must be a number above 0"),
        ("held_out=1.0", "held_out is 1, but must be between 0 and 1"),
        ("held_out=nan", "held_out is nan, but must be between 0 and 1"),
        ("masking.rate=0", "masking.rate is 0, but must be between 0 and 1"),
        ("masking.rate=nan", "masking.rate is nan, but must be between 0 and 1"),
        ("masking.masked=2", "masking.masked is 2, but must be from 0 to 1"),
        ("masking.random=-1", "masking.random is -1, but must be from 0 to 1"),
        ("masking.random=0.3", "masking.masked is 0.8 and masking.random 0.3, but they must"),
        ("training.batch_pieces=0", "training.batch_pieces is 0, but must be at least 1"),
        ("training.checkpoint_steps=0", "training.checkpoint_steps is 0, but must be at least 1"),
        ("training.accumulate=0", "training.accumulate is 0, but must be at least 1"),
        ("training.head_rate=nan", "training.head_rate is nan, but must be at least 0"),
        ("training.encoder_rate=inf", "training.encoder_rate is inf, but must be at least 0"),
        ("training.weight_decay=-1", "training.weight_decay is -1, but must be at least 0"),
        ("training.clip=nan", "training.clip is nan, but must be at least 0"),
        ("training.warmup=2", "training.warmup is 2, but must be from 0 to 1"),
        (
            "training.precision=foo",
            "training.precision is 'foo', but must be one of: auto, no, fp16",
        ),
    ],
)
def test_setting_out_of_range_is_named(assignment: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        build(AdaptationSettings, with_assignments({}, [assignment]))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"minutes": 0.02, "training": {"precision": "bf16", "warmup": 0}},
        {"masking": {"masked": 1.0, "random": 0.0}},
        {"masking": {"masked": 0.9, "random": 0.1}},
    ],
)
def test_settings_at_the_edge_are_taken(values: dict[str, Any]) -> None:
    assert build(AdaptationSettings, values).steps == 1000
