"""vLLM inside this service. The only package that imports vllm; nothing is imported until an engine is built."""
