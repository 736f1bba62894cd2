"""Ages: found, put in their sense, and whose they are."""
