export const QUANTITY_MAX = 99;

/** A number with buttons beside it that a thumb can hit. */
export function Quantity({
  value,
  max = QUANTITY_MAX,
  label,
  onChange,
  busy = false,
}: {
  value: number;
  max?: number;
  label: string;
  onChange: (quantity: number) => void;
  busy?: boolean;
}) {
  const highest = Math.max(1, Math.min(max, QUANTITY_MAX));
  return (
    <div class="quantity" role="group" aria-label={label}>
      <button type="button" aria-label="One less" disabled={busy || value <= 1} onClick={() => onChange(value - 1)}>
        −
      </button>
      <output>{value}</output>
      <button
        type="button"
        aria-label="One more"
        disabled={busy || value >= highest}
        onClick={() => onChange(value + 1)}
      >
        +
      </button>
    </div>
  );
}
