"""The chat page: static files of this package, and the one place where a browser may run something of ours."""

from importlib.resources import files

from fastapi import APIRouter, Response

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_INDEX = "index.html"


def build_page_router() -> APIRouter:
    """Read once: the page of a running service does not change under its visitors."""
    router = APIRouter(include_in_schema=False)
    for name, content in _files().items():
        _serve(router, "/" if name == _INDEX else f"/page/{name}", content, _MEDIA_TYPES[name.rsplit(".", 1)[1]])
    return router


def _files() -> dict[str, bytes]:
    names = (_INDEX, "page.css", "page.js", "client.js")
    return {name: files("app.api").joinpath("page", name).read_bytes() for name in names}


def _serve(router: APIRouter, path: str, content: bytes, media_type: str) -> None:
    @router.get(path)
    async def file() -> Response:
        return Response(content, media_type=media_type, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})
