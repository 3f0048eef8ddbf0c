"""Texts that break pages which do not escape them, of the kinds that lists of naughty strings collect."""

NAUGHTY = (
    "<script>window.broken=1</script>",
    "\"><img src=x onerror='window.broken=1'>",
    "</textarea><svg onload=window.broken=1>",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "javascript:window.broken=1",
    "' OR 1=1; DROP TABLE orders;--",
    "\u202eright to left\u202c ﷽ Z̷a̷l̷g̷o̷ 👩‍👩‍👧",
)
TEXT = " ".join(NAUGHTY)
