"""What sacctmgr's words for limits, shares and priorities mean here."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from queuesmith.base.errors import ClusterError
from queuesmith.cluster.limits import Amounts, Association, Limits, QualityOfService
from queuesmith.workload.slurm_text import count, duration, tres, words_of

Settings = Mapping[str, str]

#: Where a word of sacctmgr puts its amounts: whose they are, and which (of a list of resources,
#: those it names).
_LIMIT_WORDS: dict[str, tuple[str, str]] = {
    "grptres": ("group", "tres"),
    "grpcpus": ("group", "cores"),
    "grpnodes": ("group", "nodes"),
    "grpmem": ("group", "memory"),
    "grpjobs": ("group", "jobs"),
    "grpsubmit": ("group", "submitted"),
    "grpsubmitjobs": ("group", "submitted"),
    "grpwall": ("group", "minutes"),
    "grptresmins": ("group", "tresmins"),
    "grpcpumins": ("group", "core_minutes"),
    "grptresrunmins": ("group", "tresrunmins"),
    "grpcpurunmins": ("group", "running_core_minutes"),
    "maxtres": ("job", "tres"),
    "maxtresperjob": ("job", "tres"),
    "maxtrespj": ("job", "tres"),
    "maxcpus": ("job", "cores"),
    "maxcpusperjob": ("job", "cores"),
    "maxnodes": ("job", "nodes"),
    "maxnodesperjob": ("job", "nodes"),
    "maxtresmins": ("job", "tresmins"),
    "maxtresminsperjob": ("job", "tresmins"),
    "maxcpumins": ("job", "core_minutes"),
    "maxtrespernode": ("node", "tres"),
    "maxtrespn": ("node", "tres"),
    "maxtresperuser": ("user", "tres"),
    "maxtrespu": ("user", "tres"),
    "maxcpusperuser": ("user", "cores"),
    "maxcpuspu": ("user", "cores"),
    "maxnodesperuser": ("user", "nodes"),
    "maxnodespu": ("user", "nodes"),
    "maxjobs": ("user", "jobs"),
    "maxjobsperuser": ("user", "jobs"),
    "maxjobspu": ("user", "jobs"),
    "maxsubmit": ("user", "submitted"),
    "maxsubmitjobs": ("user", "submitted"),
    "maxsubmitjobsperuser": ("user", "submitted"),
    "maxsubmitpu": ("user", "submitted"),
    "maxsubmitjobspu": ("user", "submitted"),
    "maxtresrunminsperuser": ("user", "tresrunmins"),
    "maxtresrunminspu": ("user", "tresrunmins"),
    "maxtresperaccount": ("account", "tres"),
    "maxtrespa": ("account", "tres"),
    "maxjobsperaccount": ("account", "jobs"),
    "maxjobspa": ("account", "jobs"),
    "maxsubmitjobsperaccount": ("account", "submitted"),
    "maxsubmitpa": ("account", "submitted"),
    "maxsubmitjobspa": ("account", "submitted"),
    "maxtresrunminsperaccount": ("account", "tresrunmins"),
    "maxtresrunminspa": ("account", "tresrunmins"),
    "mintres": ("job_least", "tres"),
    "mintresperjob": ("job_least", "tres"),
    "mincpus": ("job_least", "cores"),
}
_TIME_WORDS = ("maxwall", "maxwalldurationperjob", "maxwallperjob", "maxwalldurationpj")
_AMOUNT_OF_TRES = {"cpu": "cores", "node": "nodes", "mem": "memory", "gres/gpu": "gpus"}
#: What sacctmgr knows besides and a replay does not need.
_ELSEWHERE = words_of(
    """
    description organization adminlevel defaultwckey wckeys clusters cluster classification
    controlhost controlport rpc features federation fedstate lft rgt id parentid coordinators admin
    descr org priority uid comment usagethres usagethreshold minprioritythreshold minpriothresh
    flags limitfactor lineage deleted email immediate withassoc maxtresrunmins
    grpjobsaccrue maxjobsaccrue maxjobsaccrueperuser maxjobsaccruepu maxjobsaccrueperaccount
    maxjobsaccruepa minprio newname rawusage names
    """
)
_QOS_WORDS = words_of(
    "name priority flags preempt preemptmode preemptexempttime gracetime usagefactor"
)
_LINK_WORDS = words_of(
    """
    name account accounts user users partition partitions parent parname parentname
    fairshare shares share qos qoslevel defqos defaultqos defaultaccount defaultacct
    """
)


def strange_words(settings: Settings) -> list[str]:
    """Return the words that sacctmgr does not know."""
    known = _QOS_WORDS | _LINK_WORDS | _ELSEWHERE | {*_LIMIT_WORDS, *_TIME_WORDS}
    return [word for word in settings if word not in known]


def qos_with(qos: QualityOfService, settings: Settings, place: str) -> QualityOfService:
    """Return a QOS with settings changed; ``place`` is what messages call them."""
    changed: dict[str, Any] = {"limits": _limits_with(qos.limits, settings, place)}
    if "priority" in settings:
        changed["priority"] = _number(settings["priority"] or "0", "priority", place) or 0
    for word, name in (("flags", "flags"), ("preempt", "preempts")):
        if word in settings:
            changed[name] = names_in(settings[word])
    if settings.get("preemptmode"):
        changed["preempt_mode"] = settings["preemptmode"]
    if settings.get("gracetime"):
        text = settings["gracetime"]
        seconds = _parsed(int if text.isdecimal() else duration, text, "GraceTime", place)
        changed["grace_time"] = max(seconds, 0)
    if settings.get("preemptexempttime"):
        exempt = settings["preemptexempttime"]
        seconds = -1 if exempt == "-1" else _parsed(duration, exempt, "PreemptExemptTime", place)
        changed["preempt_exempt_time"] = seconds if seconds >= 0 else None
    if settings.get("usagefactor"):
        changed["usage_factor"] = _parsed(float, settings["usagefactor"], "UsageFactor", place)
    return replace(qos, **changed)


def association_with(link: Association, settings: Settings, place: str) -> Association:
    """Return an association with settings changed; ``place`` is what messages call them."""
    changed: dict[str, Any] = {"limits": _limits_with(link.limits, settings, place)}
    share = next((settings[w] for w in ("fairshare", "shares", "share") if settings.get(w)), None)
    if share is not None:
        parent = share.lower() == "parent"
        changed["shares"] = None if parent else _number(share, "fairshare", place)
    for word in ("qos", "qoslevel"):
        if settings.get(word):
            changed["qos"] = _changed_names(link.qos, settings[word])
    for word in ("defqos", "defaultqos"):
        if settings.get(word):
            changed["default_qos"] = settings[word]
    for word in ("parent", "parname", "parentname"):
        if settings.get(word) and link.user is None:
            changed["parent"] = settings[word]
    default = settings.get("defaultaccount", settings.get("defaultacct"))
    if default and link.user is not None:
        changed["default"] = default == link.account
    return replace(link, **changed)


def _limits_with(limits: Limits, settings: Settings, place: str) -> Limits:
    for word, text in settings.items():
        if word in _TIME_WORDS:
            seconds = _parsed(duration, text, word, place) if text != "-1" else -1
            limits = replace(limits, max_time=seconds if seconds > 0 else None)
        elif word in _LIMIT_WORDS:
            whose, which = _LIMIT_WORDS[word]
            amounts = _amounts_with(getattr(limits, whose), which, text, word, place)
            changed: dict[str, Any] = {whose: amounts}
            limits = replace(limits, **changed)
    return limits


def _amounts_with(amounts: Amounts, which: str, text: str, word: str, place: str) -> Amounts:
    if which == "minutes":
        seconds = _parsed(duration, text, word, place) if text != "-1" else -1
        return replace(amounts, minutes=seconds // 60 if seconds >= 0 else None)
    if not which.startswith("tres"):
        number: dict[str, Any] = {which: _number(text, word, place)}
        return replace(amounts, **number)
    gres = dict(amounts.gres)
    changed: dict[str, Any] = {}
    for name, amount in _resources(text, word, place).items():
        if which == "tres" and name in _AMOUNT_OF_TRES:
            changed[_AMOUNT_OF_TRES[name]] = amount
        elif which == "tres" and name.startswith("gres/"):
            gres.pop(name[5:], None)
            gres |= {} if amount is None else {name[5:]: amount}
        elif name == "cpu":
            minutes = {"tresmins": "core_minutes", "tresrunmins": "running_core_minutes"}
            changed[minutes[which]] = amount
    return replace(amounts, **changed, gres=gres)


def _resources(text: str, word: str, place: str) -> dict[str, int | None]:
    """Return a list of resources; None where ``=-1`` takes a limit back."""
    if text in ("-1", ""):
        return {}
    taken_back = dict.fromkeys(re.findall(r"([^,=]+)=-1(?=,|$)", text))
    others = re.sub(r"(^|,)[^,=]+=-1(?=,|$)", "", text).strip(",")
    found = _parsed(tres, others, word, place) if others else {}
    return {**found, **taken_back}


def _number(text: str, word: str, place: str) -> int | None:
    if text.strip() in ("-1", ""):
        return None
    value = _parsed(count, text, word, place)
    return value if value >= 0 else None


def _parsed(parse: Callable[[str], Any], text: str, word: str, place: str) -> Any:
    try:
        return parse(text)
    except (ValueError, OverflowError):
        raise ClusterError(
            f"{place} sets {word}={text}, but that is no amount that sacctmgr knows (-1 takes a "
            "limit back). Correct it."
        ) from None


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas, each once."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _changed_names(now: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return a list of names replaced, or with ``+a`` added and ``-b`` taken away."""
    names = names_in(text)
    if not all(name[0] in "+-" for name in names):
        return names
    kept = [name for name in now if f"-{name}" not in names]
    return tuple(dict.fromkeys([*kept, *(name[1:] for name in names if name[0] == "+")]))
