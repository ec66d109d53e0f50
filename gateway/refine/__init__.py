"""Refining: an answer that looks risky is read once more, corrected, and marked. What rules/refine.yaml stands for."""
