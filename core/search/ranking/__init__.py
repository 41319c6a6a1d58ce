"""Ranking: features, score factors, reranking, near duplicates."""
