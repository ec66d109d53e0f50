"""Refining: an answer that looks risky is read once more, corrected, and marked. The house behind `rules/refine.yaml`."""
