"""What an analyst sees: one file per page, drawn from the values of core."""
