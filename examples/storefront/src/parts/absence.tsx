import type { VendorAbsence } from "campus-client";

import { when } from "../times.ts";

/** A seller who takes no orders at the moment. */
export function Absence({ of }: { of: VendorAbsence }) {
  return (
    <p class="notice">
      The seller is away until {when(of.until)}. {of.message}
    </p>
  );
}
