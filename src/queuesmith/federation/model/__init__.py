"""Federations and their jobs: clusters of unequal speed, links, and what a job takes where."""
