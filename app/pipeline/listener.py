"""Who hears of a check before it has ended."""

from typing import Protocol

from app.store.records import CheckRecord


class Listener(Protocol):
    """Told in this order, from within the check: none of these may wait or raise."""

    def begun(self, *, is_first_known: bool) -> None:
        """It is admitted: from now on it leaves a record, and an error is the error of a check that began."""

    def decided(self, record: CheckRecord) -> None:
        """Facts and decision, durable before they are told: what a customer has seen, an auditor finds."""

    def narrated(self, text: str, replaces: bool) -> None:
        """A piece of the reply that agrees with the decision as far as it goes, or all of it anew."""
