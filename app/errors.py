"""Everything that can go wrong, by what happened. No HTTP here: app/api/problems.py knows status codes.

ServiceError
├── SettingsInvalid            an environment variable is unknown, malformed or contradicts another
├── StartFailed                the service cannot start: port taken, no disk space, a library is missing
│   ├── ModelUnavailable       weights cannot be found, fetched or verified
│   └── DatabaseUnusable       embedded Postgres does not start, or its data belongs to someone else
├── EngineError                the model did not give a usable answer
│   ├── EngineNotReady         still loading, or being started again
│   │   └── EngineLost         it died or stalled, and does not come back by itself
│   ├── EngineOverloaded       too many calls are waiting
│   ├── PromptTooLong          the rendered prompt does not fit the model's context
│   └── CallFailed             this one call failed; the engine lives
├── ServiceBusy                all permits are taken and the queue is full or too slow
├── DeadlineExceeded           a check ran out of time before its facts were extracted
├── StoreUnavailable           the record of a check could not be written or read
├── CheckInFlight              a check with the same idempotency key is being worked on
├── KeyReused                  an idempotency key comes with another request than before
├── ContentErased              what was asked for has been erased
└── CheckNotFound              no check has this id
"""

from typing import Literal


class ServiceError(Exception):
    """Base of all errors this service raises on purpose. The message ends with what to do next."""


class SettingsInvalid(ServiceError):
    """The environment asks for something that does not exist or contradicts itself."""


class StartFailed(ServiceError):
    """The service cannot start; the message is one sentence for the person at the terminal."""


class ModelUnavailable(StartFailed):
    """The model's weights cannot be found, fetched, verified or converted."""


class DatabaseUnusable(StartFailed):
    """The database cannot be used at start."""


class EngineError(ServiceError):
    """The engine gave no usable answer."""


class EngineNotReady(EngineError):
    """The engine is loading, stalled or dead; the reason is the message."""


LossReason = Literal["died", "stalled"]


class EngineLost(EngineNotReady):
    """This engine will not answer again: another has to be started."""

    def __init__(self, message: str, reason: LossReason) -> None:
        super().__init__(message)
        self.reason = reason


class EngineOverloaded(EngineError):
    """The engine refuses more work for the moment."""


class PromptTooLong(EngineError):
    def __init__(self, prompt_tokens: int, limit_tokens: int) -> None:
        super().__init__(
            f"the conversation takes {prompt_tokens} tokens and the model has room for {limit_tokens}; shorten it"
        )
        self.prompt_tokens = prompt_tokens
        self.limit_tokens = limit_tokens


class CallFailed(EngineError):
    """One call failed inside the engine; others are not affected."""


class ServiceBusy(ServiceError):
    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class DeadlineExceeded(ServiceError):
    def __init__(self, stage: str, seconds: float) -> None:
        super().__init__(f"the check was stopped after {seconds:g} s while in {stage!r}; try again later")
        self.stage = stage
        self.seconds = seconds


class StoreUnavailable(ServiceError):
    """The call log cannot be written or read, so no answer is given: an answer implies a record."""


class CheckInFlight(ServiceError):
    """A check with the same idempotency key has begun and not ended."""


class KeyReused(ServiceError):
    """An idempotency key that stands for another request."""


class ContentErased(ServiceError):
    """The check is known; its customer's words and its reply were erased."""


class CheckNotFound(ServiceError):
    """No check with this id is stored."""
