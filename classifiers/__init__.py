"""Small models: their run time, and their training. Knows nothing of the gateway, which knows only the run time."""
