"""One runnable study for each paper: its tables beside ours."""
