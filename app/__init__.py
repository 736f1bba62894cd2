"""A booking assistant for consultations: a model extracts facts, code decides, a model narrates."""

__version__ = "0.1.0"
