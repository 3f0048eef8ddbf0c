"""The in-app feed and its preferences.

`GET /api/notifications/stream` sends each new feed entry as `event: notification` with its id and, as `data:`, the
item of the list; `: ping` every 15 s, and first `retry: 3000` with the id that the stream starts after (the nil UUID
for an empty feed): a client that loses its connection before the first event resumes there. The stream ends with its
token, session or process, always between two events. The client reconnects with a fresh token and `Last-Event-ID`. To
miss nothing, open the stream before reading the list; duplicates have the same id.

- **Positions.** Each entry has a position (column `place`), assigned under the lock of the user's row in `feeds`,
  which is held until the commit. Positions become visible in their order, so a read after a position neither misses
  nor repeats an entry. A stream holds one position and reads at most 50 rows at a time.
- **Many processes.** A stream announces itself in `feeds.streamed_until`; until then each new entry of that user is
  published. Every process receives `notification_shown` from an exclusive queue and reads the row under the row
  policies of the stream's caller. NOTIFY takes a global lock in the writing transaction and is not used
  (docs/decisions). One query for all streams of a process every 5 s covers a lost broadcast.
- **Slow readers** are disconnected when their connection accepts nothing for 20 s. Until then at most 64 KiB are
  buffered.
- **The gateway** forwards events immediately, keeps streams apart from the connections of short requests, and closes
  them between events when it stops. The service does the same.
"""
