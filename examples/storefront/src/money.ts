/** Naira with kobo, `₦1,250.00`, from an integer of kobo. */
export function naira(minor: number): string {
  const kobo = Math.abs(minor) % 100;
  const whole = (Math.abs(minor) - kobo) / 100;
  return `${minor < 0 ? "-" : ""}₦${whole.toLocaleString("en-NG")}.${String(kobo).padStart(2, "0")}`;
}

/** The kobo of an amount as people write it, `1,250.50`; NaN for anything else. */
export function minorOf(text: string): number {
  const found = /^₦?\s*([0-9][0-9,]*)(?:\.([0-9]{1,2}))?$/.exec(text.trim());
  if (!found) return Number.NaN;
  return Number(found[1]?.replaceAll(",", "")) * 100 + Number((found[2] ?? "").padEnd(2, "0"));
}
