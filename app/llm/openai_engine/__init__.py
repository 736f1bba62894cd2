"""An engine behind HTTP: any server that speaks OpenAI's chat completions, one or a fleet."""
