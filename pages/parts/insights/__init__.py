"""The pieces of the Insights page: notes and episodes as they are listed, changed and taken away."""
