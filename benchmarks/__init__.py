"""What is timed, and against whom. ``python -m benchmarks`` runs it all."""
