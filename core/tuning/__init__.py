"""How well the product does on judged questions, topics and documents."""
