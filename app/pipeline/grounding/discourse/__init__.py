"""What customers do besides stating facts: they give orders, and change their minds."""
