"""Pure functions: rows in, :class:`heedful.spec.rollout.Estimate` out, never rounded."""
