"""Amounts: found, put in their sense, counted and added up."""
