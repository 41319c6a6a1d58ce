"""Fuzzing of the readers: small sample files, damaged ways to change them, and the run that reads what comes out."""
