"""Values and policies without a framework: time, ids, money, cursors, retries, problems, encryption."""
