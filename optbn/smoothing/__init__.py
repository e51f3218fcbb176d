"""Parameters of networks: counts on a tree of contexts, and the smoothers that turn them into probabilities."""
