"""What the closed loop will cost, before anything is computed."""

from __future__ import annotations

from pathlib import Path

from heedful.planning.grounding import PUBLISHED_ORDER
from heedful.workflows.comparing.bill import Bill, Sizes, priced
from heedful.workflows.mending.request import MendRequest, planned
from heedful.workflows.mending.stages import after, before, conflicts_spec, control, grid_spec
from heedful.workflows.running import resolve


def bill(request: MendRequest, out: Path, workers: int = 2) -> Bill:
    """Return what ``request``, as ``ready`` returns it, will cost.

    The plan is that of the published order; the measured one may have other cells, but as many
    demonstrations.
    """
    order = tuple(name for name in PUBLISHED_ORDER if name in request.factors)
    plan = planned(request, order if len(order) == len(request.factors) else request.factors)
    stages = (before(request, out), control(request, out), after(request, plan, out))
    tasks = {task.id for stage in stages for task in stage.tasks}
    specs = (conflicts_spec(request, stages[0]), grid_spec(request, stages[0]))
    cases = sum(len(resolve(spec)[1]) for spec in specs)
    trainings = len(stages) * request.seeds
    return priced(
        Sizes(
            demonstrations=len(tasks),
            asked_demonstrations=sum(len(stage.tasks) for stage in stages),
            stored_demonstrations=sum(len(stage.tasks) for stage in stages),
            datasets=len(stages),
            trainings=trainings,
            steps=request.steps,
            episodes=trainings * cases,
            image_size_px=request.image_size_px,
        ),
        workers,
    )
