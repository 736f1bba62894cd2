"""Evidence in the text: only what the customer's own words bear out reaches the policy."""

from app.pipeline.grounding.facts import Agreement, Evidence, ExtractedFacts, Fact, FactStatus, GroundedFacts, Message
from app.pipeline.grounding.ground import ground

__all__ = ["Agreement", "Evidence", "ExtractedFacts", "Fact", "FactStatus", "GroundedFacts", "Message", "ground"]
