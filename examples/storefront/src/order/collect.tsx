import { campus } from "../api.ts";
import { OpeningHours } from "../parts/opening-hours.tsx";
import { Loaded } from "../parts/loading.tsx";
import { when } from "../times.ts";
import { useResource } from "../use-resource.ts";

/** Where and when an arrived parcel is collected. */
export function Collect({ hubId, arrivedAt }: { hubId: string; arrivedAt: string }) {
  const hub = useResource((signal) => campus.hubs.get(hubId, { signal }), [hubId]);
  return (
    <section class="panel" aria-label="Where to collect it">
      <Loaded from={hub}>
        {({ name, address, openingHours }) => (
          <>
            <h2>Arrived at {name}</h2>
            <p>
              {address} · since {when(arrivedAt)}
            </p>
            <OpeningHours periods={openingHours} />
          </>
        )}
      </Loaded>
    </section>
  );
}
