"""Every setting, its default and its meaning. Values come from the environment in one place: bootstrap.environment."""

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How this process runs. Each field is an environment variable FIVEFOLD_<NAME> (DATABASE_URL as it is).

    data_folder: everything the product keeps on disk.
    database_url: empty starts the embedded PostgreSQL in the data folder.
    vector_index: "pgvector" or "chroma".
    chroma_url: a Chroma server; empty with "chroma" is embedded in the data folder.
    tenant: whose library.
    embedding_model: a name, a folder, or "default" (all-MiniLM-L6-v2 from its package).
    reranker_fast, reranker_balanced, reranker_accurate: another cross-encoder than core/knowledge/rerankers.toml
    names, by name or folder; empty: that one.
    worker: run jobs in this process.
    file_seconds, file_megabytes: what reading one file may cost.
    web_private: let feeds and pasted addresses lead into private networks and to this machine.
    watch_folders: folders of this machine below which folders may be watched, as PATH lists them; empty: none.
    answer_url: a language model's OpenAI-compatible address, that may tell an answer in running text; empty: none.
    answer_model, answer_key, answer_seconds: its name, its key (never shown), how long it may take.
    """

    data_folder: Path
    database_url: str = ""
    vector_index: str = "pgvector"
    chroma_url: str = ""
    tenant: str = "default"
    embedding_model: str = "default"
    reranker_fast: str = ""
    reranker_balanced: str = ""
    reranker_accurate: str = ""
    worker: bool = True
    file_seconds: int = 300
    file_megabytes: int = 4096
    web_private: bool = False
    watch_folders: str = ""
    answer_url: str = ""
    answer_model: str = ""
    answer_key: str = field(default="", repr=False)
    answer_seconds: int = 30
