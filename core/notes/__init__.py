"""What analysts remember: insights and episodes, kept, found and faded."""
