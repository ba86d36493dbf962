"""Which demonstrations to collect next, in which order: values in, a plan out. Reads and writes nothing."""
