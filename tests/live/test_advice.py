"""The order that a policy wants, and what it would do."""

import pytest

from queuesmith.base.errors import PolicyError, UsageError
from queuesmith.live.advice import advice
from queuesmith.live.changes import AllowList
from queuesmith.live.ordering import order_to_come, usage_by_user, wanted_order
from queuesmith.live.state import look, state_of
from queuesmith.policy import Policy, RuleBase, as_policy
from queuesmith.policy.rules import FuzzyRules
from queuesmith.workload.group_names import GroupNames

#: A rule base that always takes the shortest first.
RULES = RuleBase(
    FuzzyRules([[0.0]], [[1.0]], [[0, 1]]),
    ("slowdown",),
    (Policy.parse("fcfs+easy"), Policy.parse("sjf+easy")),
)


@pytest.mark.parametrize(
    ("policy", "order"),
    [
        ("fcfs+easy", [58, 60, 61, 62, 66, 67]),
        ("sjf+easy", [66, 62, 61, 60, 58, 67]),
        ("ljf", [67, 58, 60, 61, 62, 66]),
        ("narrow+easy", [66, 62, 60, 58, 61, 67]),
        ("wfp3+easy", None),
        ("dynp(sjf,ljf)", None),
        ("optimal(seconds=0.2)", None),
        (RULES, None),
    ],
    ids=str,
)
def test_any_policy_has_an_order(recorded, policy, order):
    found = [job.id for job in wanted_order(state_of(recorded), as_policy(policy))]
    assert sorted(found) == [58, 60, 61, 62, 66, 67]
    assert order is None or found == order


def test_advice_shows_both_places_and_the_commands(slurm):
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    given = advice(look(), as_policy("sjf+easy"))
    rows = {row["job"]: row for row in given.moves()}
    assert (rows["4"]["place today"], rows["4"]["place wanted"]) == (3, 1)
    assert rows["2"]["wanted"] > rows["2"]["starts in (min) today"]
    assert "sjf+easy would move 2 of 3 jobs with 2 changes" in given.sentence
    assert all(line.startswith("scontrol update JobId=") for line in given.to_dict()["commands"])
    assert slurm.told == []


def test_waits_are_shown_by_group(slurm):
    slurm.job(4, account="chem")
    rows = {row["account"]: row for row in advice(look(), as_policy("sjf+easy")).waits()}
    assert set(rows) == {"all", "bio", "chem"}
    assert rows["chem"]["wanted"] <= rows["chem"]["mean wait (min) today"]


def test_who_may_not_be_steered_keeps_the_place(slurm):
    slurm.job(3, account="chem")
    given = advice(look(), as_policy("sjf+easy"), AllowList(accounts=frozenset({"bio"})))
    assert [job.id for job in given.wanted] == [4, 3, 2]
    assert any("1 job keeps its place" in note for note in given.notes)


def test_advice_says_that_steering_keeps_no_cores_free(slurm):
    note = "steering sets an order, so no cores are kept free"
    assert note in advice(look(), as_policy("group+easy+keep(share=0.3)")).notes
    assert note not in advice(look(), as_policy("group+easy+keep(share=0)")).notes


def test_options_out_of_range_are_refused(slurm):
    with pytest.raises(UsageError, match="hours"):
        advice(look(), as_policy("sjf"), hours=0)
    with pytest.raises(UsageError, match="colour"):
        advice(look(), as_policy("sjf"), by="colour")


def test_groups_come_from_what_users_have_consumed(recorded):
    used = usage_by_user(state_of(recorded))
    assert used["lu_ana"] > used["lu_ben"] > 0
    order = wanted_order(state_of(recorded), as_policy("group+easy"))
    assert len(order) == 6


@pytest.mark.parametrize("policy", ["ranked(group_1=1,group_2=9)+easy", "dynp(group)"])
def test_named_groups_are_those_of_the_names_whatever_their_numbers(slurm, policy):
    """Learned where accounts were astro and bio: in this queue nobody is of astro."""
    for number, account in ((2, "chem"), (3, "bio"), (4, "chem")):
        slurm.job(number, account=account, cores=16, nodes=2)
    names = GroupNames("account", ("none", "astro", "bio"))
    order = wanted_order(look(), as_policy(policy).for_groups(names))
    assert [job.id for job in order] == [3, 2, 4]


@pytest.mark.parametrize("policy", ["ranked(group_1=1,group_2=9)+easy", "dynp(group)"])
def test_named_groups_of_which_nobody_waits_leave_the_others_in_their_order(slurm, policy):
    for number in (2, 3, 4):
        slurm.job(number, account="chem", cores=16, nodes=2)
    names = GroupNames("account", ("none", "astro", "bio"))
    order = wanted_order(look(), as_policy(policy).for_groups(names))
    assert [job.id for job in order] == [2, 3, 4]


def test_groups_by_what_slurm_does_not_tell_are_refused_whoever_waits(slurm):
    named = as_policy("group+easy").for_groups(GroupNames("log_group", ("none", "bio")))
    for _ in range(2):
        for ask in (wanted_order, order_to_come):
            with pytest.raises(PolicyError, match=r"groups by 'log_group' \(1 is bio\).*--groups"):
                ask(look(), named)
        slurm.set(jobs={})


def test_usage_that_is_not_told_is_nothing(slurm):
    slurm.set(shares=["Account|User|Other", "bio|ann|5"])
    assert usage_by_user(look()) == {}


def test_an_optimal_plan_is_one_of_this_moment(slurm):
    """Each needs the whole machine, so the shortest first is the best for the mean response."""
    for number in (2, 3, 4):
        slurm.job(number, cores=16, nodes=2)
    policy = as_policy("optimal(seconds=1; objective=response)")
    assert [job.id for job in wanted_order(look(), policy)] == [4, 3, 2]
    given = advice(look(), policy)
    assert "would move 2 of 3 jobs" in given.sentence
    assert slurm.told == []
