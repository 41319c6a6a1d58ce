"""Live review meetings: people, agenda, one presenter, proposals from every seat, and minutes at the end."""
