"""What a policy takes for granted: conventions, presets, conversion both ways, comparison, advice."""
