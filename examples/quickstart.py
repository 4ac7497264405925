"""Solve an instance and draw the answer: `python examples/quickstart.py`."""

from pathlib import Path

import dact

instance = dact.read(Path(__file__).with_name("harbour60.vrp"))
result = dact.solve(instance, steps=300, seed=0)

print(f"{instance.name}: from {result.start_cost:.0f} to {result.cost:.0f} in {len(result.routes)} routes")
dact.save_plot(result, "harbour60.png")
