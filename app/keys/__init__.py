"""The command that makes and revokes API keys."""
