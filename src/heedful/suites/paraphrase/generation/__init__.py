"""Paraphrases written by one language model and checked by another, in four stages.

``rules.yaml`` is what they are told, ``prompts`` the questions, ``answers`` how their answers
are read, ``stages`` who is asked what and when.
"""
