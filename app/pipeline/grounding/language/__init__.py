"""Words of other languages, turned into the English ones the recognisers know."""
