"""Both APIs of OpenAI, Chat Completions and Responses, which most model servers speak."""
