"""Tuning: versioned score profiles, trials on one question, thresholds and weight optimisation."""
