"""People, rights, tokens, the audit log, and attacks on what a person may not see."""
