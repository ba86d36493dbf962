"""Running worlds, one folder each; a scene and a seed in, states and pictures out."""
