"""How long jobs will run, foretold from what their users' jobs did before."""
