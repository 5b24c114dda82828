"""The typed configuration of an experiment: its model, its files, its messages."""

from __future__ import annotations

from difflogic.config.document import describe, document
from difflogic.config.learning import TrainingConfig
from difflogic.config.loading import (
    Override,
    config_from_dict,
    load_config,
    picture_directory,
    shipped_configs,
)
from difflogic.config.models import Config, PerceptionConfig, UpdateConfig
from difflogic.config.recipes import BENCHMARK
from difflogic.config.running import ParallelConfig
from difflogic.tasks.sections import AutomatonConfig

__all__ = [
    "BENCHMARK",
    "AutomatonConfig",
    "Config",
    "Override",
    "ParallelConfig",
    "PerceptionConfig",
    "TrainingConfig",
    "UpdateConfig",
    "config_from_dict",
    "describe",
    "document",
    "load_config",
    "picture_directory",
    "shipped_configs",
]
