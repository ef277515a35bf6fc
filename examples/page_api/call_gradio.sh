PAGE=http://127.0.0.1:7860/gradio_api/call/v2/vendi_score_texts
ID=$(curl -s -H "Content-Type: application/json" -d '{"texts": ["a cat sat", "a dog ran"]}' $PAGE | cut -d '"' -f 4)
curl -sN $PAGE/$ID
