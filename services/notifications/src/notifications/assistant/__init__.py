"""The assistant: conversations, the language model and its tools."""
