"""Working together: comments, assignments, and the notifications that tell people about them."""
