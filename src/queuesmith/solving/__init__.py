"""What all exact methods share: the status of an answer, its gap, the libraries that solve."""
