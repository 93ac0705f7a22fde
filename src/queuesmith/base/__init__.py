"""What everything stands on: errors in one sentence, files that are whole or not there, checks."""
