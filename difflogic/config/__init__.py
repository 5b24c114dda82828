"""The typed configuration of an experiment: its models, files and messages."""

from __future__ import annotations

from difflogic.config.checking import config_from_dict
from difflogic.config.loading import Override, load_config, shipped_configs
from difflogic.config.models import Config
from difflogic.config.recipes import BENCHMARK
from difflogic.config.sections import ParallelConfig, PerceptionConfig, TrainingConfig, UpdateConfig
from difflogic.tasks.section import AutomatonConfig

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
    "load_config",
    "shipped_configs",
]
