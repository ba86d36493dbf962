collect_ignore_glob = ["*_side.py"]  # run by interpreters of their own
