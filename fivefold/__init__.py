"""Fivefold from Python: open a library, upload, label, search, and see what the documents cover.

```python
from fivefold import open_library

with open_library("payroll-library") as library:
    for document in library.upload("contracts"):
        print(document.name, document.labels.truth.value)
    library.label(document, truth="intent")
    for hit in library.search("Who approves overtime?", truths=["compliance"]).hits:
        print(f"{hit.score.total:.2f}", hit.citations[0].quote)
    for cell in library.coverage(["overtime approval"]).cells:
        print(cell.topic, cell.truth, cell.state)
```
"""

from fivefold import _path

_path.add()

__all__ = ["DocumentLibrary", "FivefoldError", "open_library"]

from core.domain.errors import FivefoldError  # noqa: E402 - the path of the packages comes first
from fivefold.library import DocumentLibrary, open_library  # noqa: E402
