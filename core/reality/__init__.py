"""Reality: tables as the fifth truth – kept, linked, asked in words."""
