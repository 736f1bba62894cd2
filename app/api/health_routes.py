"""The HTTP interface for who runs the service: health and metrics."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.api.access import Access
from app.api.openapi import OF_HEALTH, OF_METRICS
from app.api.readiness import Readiness


def build_health_router(access: Access, readiness: Readiness) -> APIRouter:
    router = APIRouter()

    @router.get("/livez", responses=OF_HEALTH)
    async def livez() -> dict[str, str]:
        return {"status": "alive"}

    @router.get("/readyz", responses=OF_HEALTH | {503: {"description": "Not ready: the same body says which part"}})
    async def readyz(response: Response) -> dict[str, Any]:
        """Per part: ok, or why not. 503 while checks are refused; they are not while only the database is away."""
        ready, parts = await readiness.parts()
        if not ready:
            response.status_code = 503
            response.headers["Retry-After"] = "10"
        return {"ready": ready, "parts": parts}

    @router.get("/metrics", responses=OF_METRICS, response_class=PlainTextResponse)
    async def metrics(http: Request) -> Response:
        """This service's metrics and vLLM's own."""
        access.caller(http, "metrics")
        await readiness.parts()  # keeps the gauge honest between checks
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    return router
