-- Text without accents: compatibility forms resolved, marks removed, lower case. `ofada` finds Ọ̀fadà, and Ọ̀fadà finds
-- `ofada`. `orders.domain.catalog.plain` does the same to a query.
CREATE FUNCTION plain(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT lower(normalize(regexp_replace(normalize(text, NFKD), '[\u0300-\u036f]+', '', 'g'), NFC))
$$;

-- A configuration without stop words: the English one drops `can` and `it`.
CREATE TEXT SEARCH DICTIONARY english_stem_all (TEMPLATE = pg_catalog.snowball, Language = english);
CREATE TEXT SEARCH CONFIGURATION every_word (COPY = pg_catalog.english);
ALTER TEXT SEARCH CONFIGURATION every_word
    ALTER MAPPING FOR asciiword, asciihword, hword_asciipart, word, hword, hword_part WITH english_stem_all;

-- Words without their punctuation, as in `orders.domain.products`: the parser of PostgreSQL reads `Rice/Beans` as a path,
-- `Node.js` as a host and `1.5L` as a number. The hooked letters of Hausa have no decomposition.
CREATE FUNCTION search_text(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT regexp_replace(translate(public.plain(text), 'ƁƊƘƳɓɗƙƴ', 'bdkybdky'),
                          '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u303f\ufe00-\ufe0f\ufe30-\ufe4f\U0001f000-\U0001faff]+', ' ', 'g')
$$;

-- The words of a name, and each two neighbours as one word: `powerbank` finds Power Bank, and `20000mah` 20,000mAh.
CREATE FUNCTION joined_text(text text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws(' ', words, regexp_replace(words, '(\S+) (\S+)', '\1\2', 'g'),
                     regexp_replace(regexp_replace(words, '^\S+ ', ''), '(\S+) (\S+)', '\1\2', 'g'))
    FROM btrim(public.search_text(text)) AS words
$$;

-- Used by the previous version during an upgrade. Drop it in the next release.
CREATE FUNCTION search_query(terms text) RETURNS tsquery LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN numnode(to_tsquery('pg_catalog.english', lower(terms))) > 0
           THEN to_tsquery('pg_catalog.english', lower(terms)) ELSE to_tsquery('public.every_word', lower(terms)) END
$$;

CREATE FUNCTION words_in(text text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT DISTINCT word FROM regexp_split_to_table(search_text(text), ' +') AS word
    WHERE length(word) >= 3 AND octet_length(word) <= 24 AND word !~ '^[0-9]+$'
$$;

CREATE FUNCTION spellings_of(word text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(DISTINCT spelling) FROM (
        SELECT word AS spelling
        UNION ALL
        SELECT left(word, place - 1) || substr(word, place + 1) FROM generate_series(1, length(word)) AS place
    ) AS spellings
$$;
