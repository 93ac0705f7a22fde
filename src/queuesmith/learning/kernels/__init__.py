"""The compiled parts of tuning: jobs inserted into a schedule that knows what comes."""
