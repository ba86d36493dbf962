"""Plan, loop, record: episodes and demonstrations, in one process or many."""
