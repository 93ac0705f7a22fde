import sys

import pytest

pytest.importorskip("dash", reason="no Python package 'dash': install queuesmith[web]")


@pytest.fixture
def served(monkeypatch):
    """What the page would be served with."""
    calls = []

    def serve(*nouns, **options):
        calls.append((nouns, options))
        options["ready"]("http://127.0.0.1:1/token/")

    monkeypatch.setattr("queuesmith.web.server.serve", serve)
    return calls


def test_the_link_is_printed_alone(run, served, log):
    outcome = run("serve", log, "--no-browser", "--policies", "fcfs+easy,sjf")
    assert outcome.code == 0
    assert outcome.out == "http://127.0.0.1:1/token/\n"
    (jobs, machine, policies), options = served[0]
    assert len(jobs) == 200
    assert machine.cores == 64
    assert [str(policy) for policy in policies] == ["fcfs+easy", "sjf"]
    assert options["log_source"] == log
    assert options["options"].host == "127.0.0.1"


def test_how_the_log_was_read_is_handed_on(run, served, log):
    assert run("serve", log, "--head", "50", "--quiet").code == 0
    assert served[0][1]["log_options"] == {"head": 50}


def test_without_a_log_the_demo_is_shown(run, served):
    assert run("serve", "--no-browser").code == 0
    (jobs, *_), options = served[0]
    assert jobs.name == "demo"
    assert options["log_source"] is None


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing.swf"], "no file 'nothing.swf'"),
        (["--prefix", "node"], "must begin and end with '/'"),
        (["--port", "70000"], "0 to 65535"),
        (["--upload-limit", "0"], "above 0"),
        (["--policies", "nonsense"], "no order 'nonsense'"),
        (["--machine", "nowhere"], "describes a machine"),
    ],
)
def test_a_wrong_call_is_told_in_a_sentence(run, served, words, sentence):
    outcome = run("serve", *words)
    assert outcome.code in (1, 2)
    assert sentence in outcome.err
    assert served == []


def test_without_dash_it_says_what_to_install(run, served, monkeypatch):
    monkeypatch.setitem(sys.modules, "dash", None)
    outcome = run("serve")
    assert outcome.code == 2
    assert "queuesmith[web]" in outcome.err


def test_a_port_that_is_taken_is_told():
    import socket

    from queuesmith.base.errors import UsageError
    from queuesmith.web.server import ServeOptions, _listening

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="nobody can listen"):
            _listening(ServeOptions(port=taken.getsockname()[1]))
