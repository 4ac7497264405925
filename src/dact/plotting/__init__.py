"""Pictures of solutions: one figure per function, each takes an optional `ax`."""

from dact.plotting.files import FORMATS, save_plot
from dact.plotting.routes import plot
from dact.plotting.solution import Solution, cost_text, whole_costs
from dact.plotting.trace import plot_trace

__all__ = ["FORMATS", "Solution", "cost_text", "plot", "plot_trace", "save_plot", "whole_costs"]
