const WHEN = new Intl.DateTimeFormat("en-NG", { dateStyle: "medium", timeStyle: "short" });

/** A time of the API in the buyer's own time zone. */
export function when(iso: string): string {
  return WHEN.format(new Date(iso));
}
