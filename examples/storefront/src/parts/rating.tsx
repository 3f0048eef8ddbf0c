/** Stars for the eye, a sentence for the ear. */
export function Rating({ rating, count }: { rating: number | null; count?: number }) {
  if (rating === null) return null;
  const full = Math.round(rating);
  return (
    <span class="rating">
      <span aria-hidden="true">
        {"★".repeat(full)}
        <span class="dim">{"★".repeat(5 - full)}</span>
      </span>
      <span class="visually-hidden">{rating.toFixed(1)} of 5 stars</span>
      {count !== undefined && <span class="rating-count"> ({count})</span>}
    </span>
  );
}
