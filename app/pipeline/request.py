"""A check as the pipeline receives it, already validated."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from app.pipeline.deadline import Deadline
from app.pipeline.design import DesignName, Enforcement
from app.pipeline.grounding import Message


@dataclass(frozen=True)
class IdempotencyKey:
    digest: str
    """sha256 of the caller's key, in hex."""
    fingerprint: str
    """sha256 of what is asked, in hex: the same key with another one is a mistake."""


@dataclass(frozen=True)
class CheckRequest:
    id: UUID
    conversation: tuple[Message, ...]
    received_at: datetime
    """Aware."""
    timezone: ZoneInfo
    design: DesignName
    enforcement: Enforcement
    seed: int
    """Of every call that draws; the caller's, or made at the edge."""
    temperature: float | None
    """None: each call's own."""
    request_id: str
    conversation_id: str | None
    caller: str
    deadline: Deadline
    idempotency: IdempotencyKey | None = None

    @property
    def customer_text(self) -> str:
        """What the model reads: a single message as it is, a conversation with its speakers named."""
        if len(self.conversation) == 1:
            return self.conversation[0].content
        return "\n".join(f"{message.role.capitalize()}: {message.content}" for message in self.conversation)
