"""What a log lets one see of its machine: nodes, partitions, limits, outages."""
