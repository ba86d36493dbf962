"""The vocabulary that every room of heedful shares; it imports nothing else of ours."""
