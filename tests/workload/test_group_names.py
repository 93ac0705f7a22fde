"""What groups are called, and what a policy does where their numbers are others."""

from functools import partial

import numpy as np
import pytest

from queuesmith import Workload, simulate
from queuesmith.base.errors import PolicyError, UsageError, WorkloadError
from queuesmith.campaign.units import Unit, written_as
from queuesmith.learning import tune
from queuesmith.learning.head_start import HeadStart
from queuesmith.learning.own_order import OwnOrder
from queuesmith.learning.planner import Planner
from queuesmith.policy import Policy, as_policy, load_policy
from queuesmith.policy.features import SEVEN
from queuesmith.policy.rulebase import RuleBase
from queuesmith.policy.rules import FuzzyRules
from queuesmith.policy.sentences import explain
from queuesmith.policy.strategies import THIRTEEN
from queuesmith.study.judgement import admitted
from queuesmith.workload.group_names import GroupNames

NAMES = GroupNames("account", ("none", "bio", "chem"))


def of_accounts(*accounts, column="account", **more):
    """Jobs that all want the whole machine at once."""
    count, known = len(accounts), tuple(sorted({*accounts} - {""}))
    codes = np.array([known.index(name) if name else -1 for name in accounts], np.int64)
    return Workload(
        np.zeros(count),
        np.full(count, 10),
        np.full(count, 10),
        np.ones(count),
        extra={column: codes},
        labels={column: known},
        name="log",
        machine_cores=1,
        **more,
    )


def test_names_are_those_of_the_column_that_groups_were_made_of():
    jobs = of_accounts("chem", "bio", "")
    assert GroupNames.of(jobs) is None
    assert GroupNames.of(jobs.grouped(by="account")) == NAMES
    own = jobs.grouped(by="account").replaced(extra={}, labels={"group": NAMES.names})
    assert GroupNames.of(own) == GroupNames("group", NAMES.names)


def test_of_columns_that_divide_the_jobs_alike_the_likely_one_is_meant():
    jobs = of_accounts("chem", "bio", "").grouped(by="account")
    both = jobs.replaced(
        extra={"qos": jobs.extra["account"], **jobs.extra},
        labels={"qos": jobs.labels["account"], **jobs.labels},
    )
    assert GroupNames.of(both).column == "qos"
    assert GroupNames.of(both, "account") == NAMES
    assert NAMES.numbered(both, "group") is both


def test_jobs_get_the_numbers_of_the_names_and_new_ones_the_last():
    jobs = of_accounts("chem", "astro", "", "bio").grouped(by="account")
    assert jobs.group.tolist() == [3, 1, 0, 2]
    numbered = NAMES.numbered(jobs, "group")
    assert numbered.group.tolist() == [2, 5, 0, 1]
    same = of_accounts("chem", "bio").grouped(by="account")
    assert NAMES.numbered(same, "group") is same


def test_jobs_that_were_cancelled_are_numbered_too():
    gone = of_accounts("astro", "chem").replaced(labels={"account": ("astro", "bio", "chem")})
    gone = gone.replaced(extra={"account": np.array([0, 2])})
    jobs = of_accounts("chem", "astro", "bio", cancelled=gone).grouped(by="account")
    assert jobs.cancelled.group.tolist() == [1, 3]
    assert NAMES.numbered(jobs, "group").cancelled.group.tolist() == [5, 2]


def test_a_saved_policy_favours_the_same_name_whatever_its_number(tmp_path):
    learned = as_policy("ranked(group_1=8,group_2=9)+easy").for_groups(NAMES)
    learned.save(tmp_path / "policy.json")
    again = load_policy(tmp_path / "policy.json")
    assert again == learned and again.groups == NAMES
    assert Policy.load(tmp_path / "policy.json").groups == NAMES
    jobs = of_accounts("astro", "bio", "chem", "bio", "chem").grouped(by="account")
    assert simulate(jobs, policy=learned).start.tolist() == [40, 20, 0, 30, 10]
    assert simulate(jobs, policy=again).start.tolist() == [40, 20, 0, 30, 10]
    unnamed = simulate(jobs, policy="ranked(group_1=8,group_2=9)+easy")
    assert unnamed.start.tolist() == [20, 0, 30, 10, 40]  # bio first, since it is the second here
    assert simulate(jobs, policy=again).workload is jobs  # metrics are of the log's own groups


def test_an_explained_policy_tells_the_names():
    told = explain(as_policy("group+easy").for_groups(NAMES))
    assert "groups by account: 1 is bio, 2 is chem." in told
    assert "groups" not in explain("fcfs+easy")


def test_names_stay_where_parameters_change():
    named = as_policy("ranked+easy").for_groups(NAMES)
    assert named.having(alpha=0.1).groups == NAMES
    committed = as_policy("committed(ranked; backfill=early)").for_groups(NAMES)
    assert committed.having(alpha=0.1).groups == NAMES


@pytest.mark.parametrize(
    ("policy", "method"),
    [
        ("ranked(group_2=9)+easy", partial(OwnOrder, generations=1, offspring=2)),
        ("dynp(group,group_power)", partial(Planner, generations=1)),
    ],
)
def test_a_search_that_begins_with_names_keeps_them(tmp_path, policy, method):
    """Learned for bio and chem; in this log bio is the second and chem the third."""
    path = tmp_path / "policy.json"
    as_policy(policy).for_groups(NAMES).save(path)
    jobs = of_accounts("astro", "bio", "chem", "bio", "chem").grouped(by="account")
    learning = method(str(path)).learn(np.random.default_rng(1), [])
    for asked in (next(learning), learning.send(admitted([1.0]))):
        assert {each.groups for each in asked} == {NAMES}
    objective = {"objective": "awrt[chem]", "split": None, "longest_wait": None}
    assert tune(jobs, method=method(str(path)), **objective).policy.groups == NAMES


def test_a_policy_that_knows_no_groups_keeps_no_names():
    assert as_policy("sjf+easy").for_groups(NAMES).groups is None
    assert as_policy("group+easy").for_groups(None).groups is None
    rules = FuzzyRules(np.zeros((1, 7)), np.ones((1, 7)), np.zeros((1, len(THIRTEEN))))
    assert RuleBase(rules, SEVEN, THIRTEEN).for_groups(NAMES).groups == NAMES


def test_a_log_without_names_is_refused():
    named = as_policy("group+easy").for_groups(NAMES)
    with pytest.raises(WorkloadError, match=r"2 is chem\), but .* no names.*column 'account'"):
        simulate(of_accounts("bio", column="partition"), policy=named)


def test_names_are_found_in_their_column_whatever_groups_a_log_has():
    named = as_policy("ranked(group_1=8,group_2=9)+easy").for_groups(NAMES)
    jobs = of_accounts("astro", "bio", "chem", "bio", "chem")
    by_share = simulate(jobs, policy=named)
    assert by_share.start.tolist() == [40, 20, 0, 30, 10]
    assert by_share.workload is jobs
    other = jobs.replaced(
        extra={**jobs.extra, "queue": np.zeros(5, np.int64)},
        labels={**jobs.labels, "queue": ("day",)},
    )
    by_queue = simulate(other.grouped(by="queue"), policy=named)
    assert by_queue.start.tolist() == [40, 20, 0, 30, 10]


def test_a_log_with_none_of_the_names_is_refused():
    named = as_policy("group+easy").for_groups(NAMES)
    others = of_accounts(*"abcdefg").grouped(by="account")
    with pytest.raises(WorkloadError, match=r"are others \(1 is a, .* 5 is e, and 2 more\)"):
        simulate(others, policy=named)
    with pytest.raises(WorkloadError, match=r"are by 'partition'\. Give a log whose column"):
        simulate(of_accounts("bio", column="partition").grouped(by="partition"), policy=named)
    own = as_policy("group+easy").for_groups(GroupNames("group", NAMES.names))
    with pytest.raises(WorkloadError, match="whose column 'group' has these names"):
        simulate(others, policy=own)


@pytest.mark.parametrize(
    "groups",
    [
        '["bio"]',
        '{"column": 3, "names": ["bio"]}',
        '{"column": "account"}',
        '{"column": "account", "names": "bio"}',
        '{"column": "account", "names": ["bio", "bio"]}',
        '{"column": "account", "names": ["bio", 1]}',
    ],
)
def test_names_that_cannot_be_read_are_refused(tmp_path, groups):
    (tmp_path / "policy.json").write_text(f'{{"order": "group", "groups": {groups}}}')
    with pytest.raises(PolicyError, match=r"must have as 'groups' an object"):
        load_policy(tmp_path / "policy.json")


def test_what_is_learned_for_named_groups_keeps_their_names(tmp_path):
    chance = np.random.default_rng(0)
    runtime = chance.integers(3600, 12 * 3600, 150)
    jobs = Workload(
        np.sort(chance.integers(0, 14 * 86_400, 150)),
        runtime,
        runtime,
        chance.integers(1, 16, 150),
        extra={"account": chance.integers(0, 2, 150)},
        labels={"account": ("bio", "chem")},
    ).grouped(by="account")
    method = HeadStart(generations=2, offspring=4)
    tuned = tune(jobs, cores=16, objective="awrt[2]", method=method, longest_wait=None)
    assert tuned.policy.groups == GroupNames("account", ("none", "bio", "chem"))
    assert tuned.to_dict()["policy"]["groups"] == tuned.policy.groups.to_dict()


def test_a_record_of_a_run_is_not_resumed_with_other_names(tmp_path):
    jobs = of_accounts("bio", "chem", "bio").grouped(by="account")
    path, split = tmp_path / "policy.json", {"split": None, "longest_wait": None}

    def tuned(*names):
        as_policy("ranked+easy").for_groups(GroupNames("account", ("none", *names))).save(path)
        method = OwnOrder(str(path), generations=1, offspring=2)
        return tune(jobs, method=method, store=tmp_path / "record", **split)

    assert str(tuned("bio", "chem").policy) == str(tuned("bio", "chem").policy)
    with pytest.raises(UsageError, match="cannot be resumed"):
        tuned("chem", "bio")


def test_a_unit_of_a_study_is_another_where_the_names_are_others(tmp_path):
    path = tmp_path / "policy.json"
    stamps = set()
    for names in (NAMES, GroupNames("account", ("none", "chem", "bio"))):
        as_policy("group+easy").for_groups(names).save(path)
        unit = Unit("", None, None, 1, 1.0, None, str(path), None, (), None, 0.0, 0.0)
        stamps.add(written_as(unit))
    assert len(stamps) == 2


def test_groups_by_share_have_no_names_even_where_the_log_had_some():
    named = of_accounts("chem", "bio", "").grouped(by="account")
    assert "group" not in named.grouped((0.5,)).labels
    numbers = named.replaced(extra={"queue": np.array([2, 1, 1])})
    assert "group" not in numbers.grouped(by="queue").labels
