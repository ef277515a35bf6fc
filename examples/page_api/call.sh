curl -s -H "Content-Type: application/json" -d '{"texts": ["a cat sat", "a dog ran"]}' http://127.0.0.1:7860/api/vendi_score_texts
