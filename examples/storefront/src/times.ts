import { useEffect, useState } from "preact/hooks";

const WHEN = new Intl.DateTimeFormat("en-NG", { dateStyle: "medium", timeStyle: "short", timeZone: "Africa/Lagos" });

/** A time of the API as the clocks of the campus show it, like the seller's console and the mails. */
export function when(iso: string): string {
  return WHEN.format(new Date(iso));
}

/** Seconds as `4:09`. */
export function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The seconds until a time of the API, counted down to 0. */
export function useSecondsUntil(iso: string): number {
  const left = () => Math.max(0, Math.round((Date.parse(iso) - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const ticking = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(ticking);
  }, [iso]);
  return seconds;
}
