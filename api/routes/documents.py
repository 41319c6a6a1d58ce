"""Documents: list, archive, labels, pages, originals."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Path, Query
from starlette.responses import Response

from api.inputs import Body, DocumentId, ShortText, with_example
from api.paging import Listed, PageOf, Paging, paged, paged_list
from api.route import AtWork, guarded_router
from api.shapes.documents import (
    DocumentShape,
    DocumentStatus,
    EnrichmentShape,
    LabelsShape,
    ListedDocumentShape,
    PageInfo,
    PageText,
    PassageShape,
)
from core.domain.document_list import DocumentOrder, DocumentQuery
from core.domain.documents import LABEL_FIELDS
from core.domain.errors import BadRequest

__all__ = ["routes"]

routes = guarded_router("documents")


@routes.get("/documents", response_model=PageOf[ListedDocumentShape], summary="List documents")
def list_documents(
    caller: AtWork,
    paging: Paging,
    words: Annotated[ShortText, Query(description="Words of names, titles and text.", examples=["overtime"])] = "",
    state: Annotated[str, Query(pattern="^(|pending|ready|failed|archived)$", description="Empty: all living.")] = "",
    project: Annotated[ShortText | None, Query(description="Empty: documents without one.")] = None,
    truth: Annotated[list[ShortText], Query(max_length=10, description="Any of them; `unknown` too.")] = [],  # noqa: B006 - FastAPI copies it
    tag: Annotated[list[ShortText], Query(max_length=50, description="Any of them.")] = [],  # noqa: B006
    order: DocumentOrder = DocumentOrder.UPLOADED,
    reverse: Annotated[bool, Query(description="The other direction.")] = False,
) -> dict[str, Any]:
    """Documents whose name or text has the words, in the chosen order; the newest first by default."""

    def fetch(limit: int, offset: int) -> Listed[Any]:
        query = DocumentQuery(
            words=words,
            state=state,
            project=project,
            truths=tuple(truth),
            tags=tuple(tag),
            order=order,
            reverse=reverse,
            limit=limit,
            offset=offset,
        )
        page = caller.workbench.document_list.page(query)
        return Listed(page.entries, page.total)

    return paged(paging, fetch, lambda each: each.document.id, ListedDocumentShape.of)


@routes.get("/documents/{document_id}", response_model=DocumentShape, summary="Get a document")
def get_document(caller: AtWork, document_id: DocumentId) -> DocumentShape:
    """A document without its text."""
    return DocumentShape.of(caller.workbench.documents.get(document_id))


class DocumentChange(Body):
    """archived: takes it out of searches and counts; nothing is deleted."""

    archived: bool


@routes.patch("/documents/{document_id}", response_model=DocumentShape, summary="Archive or restore a document")
def change_document(caller: AtWork, document_id: DocumentId, change: DocumentChange) -> DocumentShape:
    """Archive a document, or bring it back. It is in the history, and can be undone there."""
    documents = caller.workbench.documents
    if documents.get(document_id).archived is not change.archived:
        caller.workbench.bulk_edit.archive([document_id], archived=change.archived, who=caller.name)
    return DocumentShape.of(documents.get(document_id))


@routes.delete("/documents/{document_id}", status_code=204, summary="Move a document to the trash")
def delete_document(caller: AtWork, document_id: DocumentId) -> None:
    """Move a document to the trash, out of the library and every index. It can be restored from there."""
    caller.workbench.bulk_edit.delete(document_id, who=caller.name)


@routes.get("/documents/{document_id}/status", response_model=DocumentStatus, summary="How far reading is")
def document_status(caller: AtWork, document_id: DocumentId) -> DocumentStatus:
    """Ask this after an upload until the state is ready or failed."""
    return DocumentStatus.model_validate(caller.workbench.documents.get(document_id))


@routes.post(
    "/documents/{document_id}/retry", status_code=202, response_model=DocumentStatus, summary="Read a document again"
)
def retry_document(caller: AtWork, document_id: DocumentId) -> DocumentStatus:
    """Queue a document to be read again; labels set by hand stay."""
    documents = caller.workbench.documents
    documents.get(document_id)
    documents.retry(document_id)
    return DocumentStatus.model_validate(documents.get(document_id))


@routes.get("/documents/{document_id}/labels", response_model=LabelsShape, summary="Labels with their evidence")
def document_labels(caller: AtWork, document_id: DocumentId) -> LabelsShape:
    """Every label with its probability, the runner-up, and the quotes that decided."""
    return LabelsShape.of(caller.workbench.documents.get(document_id).labels)


class LabelCorrection(Body):
    """The labels to set; the others stay. A label that has the value already is confirmed."""

    model_config = with_example({"truth": "regulatory", "domain": "taxes"})

    truth: ShortText | None = None
    domain: ShortText | None = None
    authority: ShortText | None = None
    jurisdiction: ShortText | None = None
    effective_date: ShortText | None = None
    temporal_class: ShortText | None = None
    language: ShortText | None = None


@routes.patch("/documents/{document_id}/labels", response_model=LabelsShape, summary="Correct labels")
def correct_labels(caller: AtWork, document_id: DocumentId, change: LabelCorrection) -> LabelsShape:
    """Set labels by hand, all or none. They stay when the document is read again, and the classifier learns from
    them."""
    labels = [(document_id, name, value) for name, value in change.model_dump(exclude_none=True).items()]
    caller.workbench.documents.get(document_id)
    if not labels:
        raise BadRequest("There is no label to set.", f"Give one of: {', '.join(LABEL_FIELDS)}.")
    caller.workbench.bulk_edit.set_labels(labels, who=caller.name)
    return LabelsShape.of(caller.workbench.documents.get(document_id).labels)


@routes.delete(
    "/documents/{document_id}/labels/{field}", response_model=LabelsShape, summary="Give a label back to the classifier"
)
def withdraw_label(
    caller: AtWork,
    document_id: DocumentId,
    field: Annotated[str, Path(pattern=f"^({'|'.join(LABEL_FIELDS)})$", description="The label's field.")],
) -> LabelsShape:
    """Withdraw a label set by hand; the classifier's label returns."""
    caller.workbench.bulk_edit.withdraw_label(document_id, field, who=caller.name)
    return LabelsShape.of(caller.workbench.documents.get(document_id).labels)


@routes.get(
    "/documents/{document_id}/original",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
    summary="Download the original",
)
def document_original(caller: AtWork, document_id: DocumentId) -> Response:
    """The file as it was uploaded, always as a download."""
    document = caller.workbench.documents.get(document_id)
    data = caller.workbench.documents.uploaded(document_id)
    name = quote(document.name.rpartition("/")[2] or "original", safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}", "ETag": f'"{document.sha256}"'}
    return Response(data, 200, headers, "application/octet-stream")


@routes.get("/documents/{document_id}/pages", response_model=PageOf[PageInfo], summary="List pages")
def document_pages(caller: AtWork, document_id: DocumentId, paging: Paging) -> dict[str, Any]:
    """The pages of a document; for files without pages, their parts (a body, a sheet)."""
    texts = caller.workbench.documents.texts(caller.workbench.documents.get(document_id))
    pages = [PageInfo(number=number, characters=len(text)) for number, text in sorted(texts.items())]
    return paged_list(paging, pages, lambda each: each.number, lambda each: each)


@routes.get("/documents/{document_id}/pages/{number}", response_model=PageText, summary="Read a page")
def document_page(
    caller: AtWork,
    document_id: DocumentId,
    number: Annotated[int, Path(ge=1, le=2**31 - 1, description="The page, counted from 1.")],
) -> PageText:
    """The extracted text of a page. Citations count its characters."""
    return PageText.model_validate(caller.workbench.documents.page(document_id, number))


@routes.get("/documents/{document_id}/passages", response_model=PageOf[PassageShape], summary="List passages")
def document_passages(caller: AtWork, document_id: DocumentId, paging: Paging) -> dict[str, Any]:
    """The passages of a document in reading order."""
    caller.workbench.documents.get(document_id)
    passages = caller.workbench.documents.passages(document_id)
    return paged_list(paging, passages, lambda each: each.id, PassageShape.model_validate)


@routes.get("/documents/{document_id}/entities", response_model=dict[str, list[str]], summary="Entities of a document")
def document_entities(caller: AtWork, document_id: DocumentId) -> dict[str, list[str]]:
    """Type → names of the entities in a document; those in most passages first."""
    caller.workbench.documents.get(document_id)
    found = caller.workbench.enrichment.entities(document_id)
    return {kind.value: list(names) for kind, names in found.items()}


@routes.get("/documents/{document_id}/enrichment", response_model=EnrichmentShape, summary="Summary and keywords")
def document_enrichment(caller: AtWork, document_id: DocumentId) -> EnrichmentShape:
    """What was extracted from a document: summary, keywords, questions it answers, and its type."""
    caller.workbench.documents.get(document_id)
    found = caller.workbench.enrichment.of(document_id)
    sentences = " ".join(each.text for each in found.summary.sentences)
    return EnrichmentShape(
        document_id=document_id,
        summary=found.summary.rewritten or sentences,
        keywords=list(found.keywords.words),
        questions=[each.question for each in found.questions.questions],
        document_type=found.document_type.value or "",
    )


@routes.get("/passages/{passage_id}", response_model=PassageShape, summary="Read a passage")
def get_passage(caller: AtWork, passage_id: Annotated[int, Path(ge=1, le=2**63 - 1)]) -> PassageShape:
    """A passage with its labels."""
    return PassageShape.model_validate(caller.workbench.documents.passage(passage_id))
