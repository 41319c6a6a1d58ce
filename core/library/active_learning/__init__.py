"""Active learning from confirmed labels: training, label changes, undo."""
