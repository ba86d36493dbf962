"""Policies: the reference policy, the planted one, and any Python factory, behind one protocol."""
