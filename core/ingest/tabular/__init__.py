"""Tables of text cells → typed columns, loaded rows and rejected rows."""
