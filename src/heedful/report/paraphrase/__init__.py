"""The page on success under paraphrase."""
