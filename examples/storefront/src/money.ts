/** Naira with kobo, `₦1,250.00`, from an integer of kobo. */
export function naira(minor: number): string {
  const kobo = Math.abs(minor) % 100;
  const whole = (Math.abs(minor) - kobo) / 100;
  return `${minor < 0 ? "-" : ""}₦${whole.toLocaleString("en-NG")}.${String(kobo).padStart(2, "0")}`;
}
