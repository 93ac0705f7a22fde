"""Compile every kernel once, before many test processes would each do so at the same time."""

from queuesmith.engine import kernels
from queuesmith.federation import oas, replay_kernels  # noqa: F401
from queuesmith.grid import methods  # noqa: F401
from queuesmith.knobs import kernels as knob_kernels  # noqa: F401
from queuesmith.optimal.solve import load_kernels
from queuesmith.tuning import insertion_kernels  # noqa: F401

if __name__ == "__main__":
    for way_in in (kernels.run_ruled, kernels.run_tuning, kernels.answer_request):
        way_in.load()
    load_kernels()
