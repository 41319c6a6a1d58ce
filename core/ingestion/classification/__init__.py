"""Classification of documents and passages; every label has its evidence."""
