"""Options that several commands share, each described once."""

from queuesmith.cli.options.bundles import with_options
from queuesmith.cli.options.counting import CountingOptions
from queuesmith.cli.options.log import DEFAULT_THRESHOLDS, LogIfAny, LogOptions, LogOrDemo
from queuesmith.cli.options.machine import MachineOptions, NodesOption, machine_named
from queuesmith.cli.options.single import FederationFile, FormatOption, Quiet, Seed, described
from queuesmith.cli.options.texts import names, numbers, own_metric, own_metrics, settings
from queuesmith.cli.options.truth import ConstraintsOption, NodesOptions, TruthOptions

__all__ = [
    "DEFAULT_THRESHOLDS",
    "ConstraintsOption",
    "CountingOptions",
    "FederationFile",
    "FormatOption",
    "LogIfAny",
    "LogOptions",
    "LogOrDemo",
    "MachineOptions",
    "NodesOption",
    "NodesOptions",
    "Quiet",
    "Seed",
    "TruthOptions",
    "described",
    "machine_named",
    "names",
    "numbers",
    "own_metric",
    "own_metrics",
    "settings",
    "with_options",
]
