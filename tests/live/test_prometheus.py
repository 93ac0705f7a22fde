"""Figures for monitoring."""

import re

from queuesmith.live.prometheus import figures_text, write_figures
from queuesmith.live.steering import Counts

SAMPLE = re.compile(r'queuesmith_steer_\w+\{policy="([^"\\\n]|\\.)*"\} [0-9.e+-]+')


def test_each_figure_has_its_help_its_kind_and_a_value():
    lines = figures_text(vars(Counts(cycles=3, paused=True)), 'a"b\\c').splitlines()
    assert len(lines) % 3 == 0
    for help, kind, sample in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        assert help.startswith("# HELP ") and kind.startswith("# TYPE ")
        assert SAMPLE.fullmatch(sample), sample
    assert 'queuesmith_steer_cycles_total{policy="a\\"b\\\\c"} 3' in lines


def test_the_file_is_readable_for_the_collector(tmp_path):
    path = tmp_path / "steer.prom"
    write_figures(path, vars(Counts()), "sjf+easy")
    assert path.stat().st_mode & 0o777 == 0o644
    assert "queuesmith_steer_paused" in path.read_text()
