"""The meeting pack: HTML, PDF, JSON, and an Excel workbook whose decisions can be imported."""
