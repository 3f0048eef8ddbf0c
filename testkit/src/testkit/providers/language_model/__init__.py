"""An OpenAI-compatible language model: chat completions."""
