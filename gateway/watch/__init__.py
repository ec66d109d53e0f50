"""The gateway watches itself: what reuse gives and costs, with bounds, and who acts on it. See rules/watch.yaml."""
