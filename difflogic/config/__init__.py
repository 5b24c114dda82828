"""The typed configuration of an experiment: its model, its files, its messages."""

from __future__ import annotations

from difflogic.config.describe import describe
from difflogic.config.loading import (
    config_from_dict,
    load_config,
    picture_directory,
    shipped_configs,
)
from difflogic.config.models import (
    AutomatonConfig,
    Config,
    EvaluationConfig,
    ParallelConfig,
    PerceptionConfig,
    TaskConfig,
    TrainingConfig,
    UpdateConfig,
)

__all__ = [
    "AutomatonConfig",
    "Config",
    "EvaluationConfig",
    "ParallelConfig",
    "PerceptionConfig",
    "TaskConfig",
    "TrainingConfig",
    "UpdateConfig",
    "config_from_dict",
    "describe",
    "load_config",
    "picture_directory",
    "shipped_configs",
]
