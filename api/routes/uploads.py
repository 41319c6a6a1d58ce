"""Uploads: one file per request, repeated safely with an Idempotency-Key."""

from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Form, Header, UploadFile

from api.inputs import ShortText
from api.route import AtWork, GuardedRoute, Reply
from api.shapes.documents import Receipt

__all__ = ["MOST_UPLOAD_BYTES", "routes"]

MOST_UPLOAD_BYTES = 1024**3
"""As pages allow (.streamlit/config.toml, maxUploadSize)."""


class UploadRoute(GuardedRoute):
    """A route that takes files."""

    most_bytes = MOST_UPLOAD_BYTES


routes = APIRouter(tags=["documents"], route_class=UploadRoute)


# One parameter per part of the form.
@routes.post(
    "/documents",
    status_code=201,
    response_model=Receipt,
    responses={
        200: {"model": Receipt, "description": "The same bytes are in this project already."},
        201: {"description": "Stored and queued for reading."},
    },
    summary="Upload a document",
)
def upload_document(
    caller: AtWork,
    file: UploadFile,
    project: Annotated[ShortText, Form(description="Empty: shared by all projects.")] = "",
    tags: Annotated[list[ShortText], Form(max_length=30)] = [],  # noqa: B006 - FastAPI copies it
    name: Annotated[ShortText, Form(description="The file's name with its folders; empty: as sent.")] = "",
    idempotency_key: Annotated[
        str | None,
        Header(
            pattern=r"^[\x21-\x7e]{1,200}$",
            description="A new random text per upload: a repeated request with it gets the first answer.",
            examples=["4f1c2b8e-5f0e-4a53-9a0e-7d4f6a5b2c10"],
        ),
    ] = None,
) -> Reply:
    """Store a file, and queue it for reading. Then ask its status until it is ready.

    Folder names help to label it. The same bytes in the same project are stored once.
    """
    data = file.file.read()
    file_name = name or file.filename or "file"

    def upload() -> Reply:
        receipt = caller.workbench.documents.upload(file_name, data, project=project.strip() or None, tags=tags)
        value = Receipt.model_validate(receipt).model_dump()
        return _reply(value, 200 if receipt.duplicate_of else 201)

    if idempotency_key is None:
        return upload()
    digest = sha256(repr((file_name, project, sorted(tags), sha256(data).hexdigest())).encode()).hexdigest()
    return _once(caller, idempotency_key, digest, upload)


def _reply(value: dict[str, Any], status: int, **headers: str) -> Reply:
    return Reply(value, status, {"Location": f"/api/documents/{value['document_id']}", **headers})


def _once(caller: AtWork, key: str, fingerprint: str, work: Any) -> Reply:
    """The work's reply, or that of the first request with this key."""
    requests = caller.workbench.idempotency
    known = requests.claim(key, fingerprint, caller.principal)
    if known is not None:
        return _reply(dict(known.reply), known.status, **{"Idempotency-Replayed": "true"})
    try:
        reply: Reply = work()
    except BaseException:
        requests.release(key, caller.principal)
        raise
    requests.finish(key, fingerprint, reply.status or 200, reply.value, caller.principal)
    return reply
