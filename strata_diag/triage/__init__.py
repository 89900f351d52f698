"""Many logs at once: which failures there are, how often, and what nobody knows yet."""
