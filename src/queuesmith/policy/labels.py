"""What policies are called where several stand side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence

from queuesmith.policy.any_policy import AnyPolicy


def labels_of(policies: Sequence[AnyPolicy]) -> list[str]:
    """Return what each policy is called: its text, numbered where others have the same.

    So it is with rule bases that one method learned, and with orders for groups of other names.
    Whoever is the same policy has the same label.

    >>> from queuesmith.policy import as_policies
    >>> labels_of(as_policies(["fcfs+easy", "sjf+easy"]))
    ['fcfs+easy', 'sjf+easy']
    """
    alike: dict[str, list[str]] = {}
    keys = [(str(policy), json.dumps(policy.content())) for policy in policies]
    for text, content in dict.fromkeys(keys):
        alike.setdefault(text, []).append(content)
    return [
        f"{text} #{alike[text].index(content) + 1}" if len(alike[text]) > 1 else text
        for text, content in keys
    ]
