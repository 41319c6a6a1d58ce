"""Relevance judgments: question sets, judged files, pools and agreement between judges."""
