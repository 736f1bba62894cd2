"""Dashboards, rules and their configuration, made from the metrics' names. Nothing of the service imports this."""
