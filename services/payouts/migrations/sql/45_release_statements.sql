INSERT INTO release_statements_begin (last_line, began_at) VALUES (0, now());
