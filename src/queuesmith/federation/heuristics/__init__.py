"""Quick ways to place a queue: the heuristics of the literature, and one for large queues."""
