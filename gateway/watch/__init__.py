"""The gateway watches itself: what reuse gives and costs, with bounds, and who acts on it. What rules/watch.yaml stands for."""
