"""Pictures of solutions and of training: one figure per function, each takes an optional `ax`.

Importing it loads neither Matplotlib nor PyTorch.
"""

from dact.plotting.animation import MOVING_FORMATS, check_moving
from dact.plotting.comparison import save_comparison_plot
from dact.plotting.files import FORMATS, save_plot
from dact.plotting.film import Film
from dact.plotting.routes import plot
from dact.plotting.solution import Solution, cost_text, cost_with_unit, whole_costs
from dact.plotting.trace import Curve, plot_trace, save_traces_plot
from dact.plotting.training import TrainingLog, read_training, save_training_plot

__all__ = [
    "FORMATS",
    "MOVING_FORMATS",
    "Curve",
    "Film",
    "Solution",
    "TrainingLog",
    "check_moving",
    "cost_text",
    "cost_with_unit",
    "plot",
    "plot_trace",
    "read_training",
    "save_comparison_plot",
    "save_plot",
    "save_traces_plot",
    "save_training_plot",
    "whole_costs",
]
