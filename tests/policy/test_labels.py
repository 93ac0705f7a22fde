"""What policies are called where several stand side by side."""

from queuesmith.policy import as_policies, as_policy
from queuesmith.policy.labels import labels_of
from queuesmith.workload.group_names import GroupNames


def test_policies_are_called_by_their_texts():
    assert labels_of(as_policies(["fcfs+easy", "sjf", "fcfs+easy"])) == [
        "fcfs+easy",
        "sjf",
        "fcfs+easy",
    ]


def test_policies_of_the_same_text_are_numbered_where_they_differ():
    plain = as_policy("group+easy")
    named = plain.for_groups(GroupNames("account", ("none", "bio", "chem")))
    labels = labels_of([plain, named, as_policy("sjf"), plain])
    assert labels == ["group+easy #1", "group+easy #2", "sjf", "group+easy #1"]
