import { campus } from "../api.ts";
import { OpeningHours } from "../parts/opening-hours.tsx";
import { Loaded } from "../parts/loading.tsx";
import { when } from "../times.ts";
import { useResource } from "../use-resource.ts";

/** Where and when the parcel is collected; `arrivedAt` is null while it is on its way. */
export function Collect({ hubId, arrivedAt }: { hubId: string; arrivedAt: string | null }) {
  const hub = useResource((signal) => campus.hubs.get(hubId, { signal }), [hubId]);
  return (
    <section class="panel" aria-label="Where to collect it">
      <Loaded from={hub}>
        {({ name, address, openingHours }) => (
          <>
            <h2>
              {arrivedAt ? "Arrived at" : "You collect it at"} {name}
            </h2>
            <p>
              {address}
              {arrivedAt ? ` · since ${when(arrivedAt)}` : ". This page and a message tell you when it is there."}
            </p>
            <OpeningHours periods={openingHours} />
          </>
        )}
      </Loaded>
    </section>
  );
}
