import { signal } from "@preact/signals";

const isOnline = signal(navigator.onLine);
for (const change of ["online", "offline"]) addEventListener(change, () => (isOnline.value = navigator.onLine));

/** A line in the header while there is no connection. */
export function OfflineNotice() {
  return (
    <p class="offline" role="status">
      {isOnline.value ? "" : "You are offline"}
    </p>
  );
}
