"""Instances: how long each job takes on each machine. Files, generators, description."""
