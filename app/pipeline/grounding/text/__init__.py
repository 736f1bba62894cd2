"""A message as the recognisers see it: one spelling per character, one token stream, each token in its clause."""
