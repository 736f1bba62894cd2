"""The HTTP interface of erasure: the customer's words go, the decision stays."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request

from app.api.access import Access
from app.api.openapi import OF_A_RECORD
from app.api.schemas import CONVERSATION_ID, ReceiptOut
from app.errors import CheckNotFound
from app.store.call_log import CallLog
from app.telemetry.clock import utc_now


def build_erasure_router(access: Access, call_log: CallLog) -> APIRouter:
    router = APIRouter()

    @router.delete(
        "/consultations/{check_id}/content",
        operation_id="erase_check",
        response_model=ReceiptOut,
        responses=OF_A_RECORD,
    )
    async def erase_check(check_id: UUID, http: Request) -> ReceiptOut:
        """Erase what customer and model wrote in a check, everywhere; its facts and its decision stay."""
        caller = access.caller(http, "erase")
        receipt = await call_log.erase_check(check_id, caller.name, utc_now())
        if receipt is None:
            raise CheckNotFound(f"no check has the id {check_id}")
        return ReceiptOut(**asdict(receipt))

    @router.delete(
        "/conversations/{conversation_id}/content",
        operation_id="erase_conversation",
        response_model=ReceiptOut,
        responses=OF_A_RECORD,
    )
    async def erase_conversation(
        conversation_id: Annotated[str, Path(pattern=CONVERSATION_ID)], http: Request
    ) -> ReceiptOut:
        """The same for every check of a conversation up to now, also for one that is being worked on."""
        caller = access.caller(http, "erase")
        return ReceiptOut(**asdict(await call_log.erase_conversation(conversation_id, caller.name, utc_now())))

    return router
