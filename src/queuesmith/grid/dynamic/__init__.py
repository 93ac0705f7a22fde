"""Jobs that arrive over time, machines that join and leave."""
