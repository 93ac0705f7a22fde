import pytest
from werkzeug.test import Client

from queuesmith.web.guarding import LOOPBACK, Guard, new_token

TOKEN = "secret-token"


def answers(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


def status(path, prefix="/", method="GET", host="127.0.0.1:8050", **heads):
    guard = Guard(answers, token=TOKEN, hosts=[*LOOPBACK, "ood.example.org"], prefix=prefix)
    response = Client(guard).open(path, method=method, headers={"Host": host, **heads})
    return response.status_code, response.get_data(as_text=True)


def test_the_link_is_answered():
    assert status(f"/{TOKEN}/x") == (200, f"/{TOKEN}/x")


@pytest.mark.parametrize("path", ["/", "/x", "/wrong/", f"/x/{TOKEN}/", "/_dash-layout", "//"])
def test_without_the_token_nothing_is_answered(path):
    code, words = status(path)
    assert code == 403
    assert "token" in words


@pytest.mark.parametrize(
    "host",
    ["evil.example.org", "evil.example.org:8050", "127.0.0.1.evil.org", "", "localhost.evil"],
)
def test_a_foreign_host_is_not_answered(host):
    assert status(f"/{TOKEN}/", host=host)[0] == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:8050", "[::1]:8050", "ood.example.org"])
def test_known_names_are_answered_with_and_without_a_port(host):
    assert status(f"/{TOKEN}/", host=host)[0] == 200


def test_a_foreign_origin_is_not_answered():
    for origin in ("https://evil.example.org", "null", "file://"):
        assert status(f"/{TOKEN}/", method="POST", Origin=origin)[0] == 403
    assert status(f"/{TOKEN}/", method="POST", Origin="http://127.0.0.1:8050")[0] == 200
    heads = {"Sec-Fetch-Site": "cross-site"}
    assert status(f"/{TOKEN}/", method="POST", **heads)[0] == 403


def test_a_proxy_may_leave_its_path_or_take_it_away():
    prefix = "/node/login1/8050/"
    assert status(f"{prefix}{TOKEN}/x", prefix) == (200, f"/{TOKEN}/x")
    assert status(f"/{TOKEN}/x", prefix) == (200, f"/{TOKEN}/x")
    assert status(f"{prefix}wrong/x", prefix)[0] == 403


def test_tokens_are_long_and_never_the_same():
    assert len(new_token()) >= 32
    assert new_token() != new_token()
