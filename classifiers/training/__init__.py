"""How the shipped models came to be: needs an environment of its own (`make train-context`), never used at run time."""
