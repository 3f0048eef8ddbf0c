import type { Hub } from "campus-client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { naira } from "../money.ts";
import { useResource } from "../use-resource.ts";
import { Loaded } from "./loading.tsx";

const NOTE_CHARACTERS_MAX = 500;

export type HubsByVendor = ReadonlyMap<string, Hub[]>;

/** The hubs of each vendor's campus, by the vendor's id. */
export function Hubs(own: { vendorIds: string[]; children: (hubs: HubsByVendor) => ComponentChildren }) {
  const { vendorIds, children } = own;
  const hubs = useResource(
    async (signal): Promise<HubsByVendor> => {
      const vendors = await Promise.all(vendorIds.map((id) => campus.vendors.get(id, { signal })));
      const campusIds = [...new Set(vendors.flatMap((vendor) => vendor.campusId ?? []))];
      const ofCampus = new Map(
        await Promise.all(
          campusIds.map(
            async (id): Promise<[string, Hub[]]> => [
              id,
              (await campus.hubs.list(id, { limit: 100 }, { signal })).items,
            ],
          ),
        ),
      );
      return new Map(vendors.map((vendor) => [vendor.id, ofCampus.get(vendor.campusId ?? "") ?? []]));
    },
    [vendorIds.join()],
  );
  return <Loaded from={hubs}>{children}</Loaded>;
}

/** The chosen hub and note of each vendor's order, as a request names them. */
export function usePlaces(vendorIds: string[]) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Delivery>>(new Map());
  const get = (id: string) => chosen.get(id) ?? MEET_THE_SELLER;
  const of = (id: string) => placeOf(get(id));
  return {
    feeMinor: vendorIds.reduce((sum, id) => sum + (get(id).hub?.deliveryFeeMinor ?? 0), 0),
    deliveries: vendorIds.map((id) => ({ vendorId: id, ...of(id) })),
    of,
    get,
    set: (id: string, delivery: Delivery) => setChosen((before) => new Map(before).set(id, delivery)),
  };
}

/** The choices of all vendors; `vendors` are their ids and names. */
export function Places(own: { vendors: [string, string][]; hubs: HubsByVendor; places: ReturnType<typeof usePlaces> }) {
  const { vendors, hubs, places } = own;
  return (
    <>
      {vendors.map(([id, name]) => (
        <DeliveryOf
          key={id}
          vendorId={id}
          of={vendors.length > 1 ? name : ""}
          hubs={hubs.get(id) ?? []}
          delivery={places.get(id)}
          choose={(delivery) => places.set(id, delivery)}
        />
      ))}
    </>
  );
}

interface Delivery {
  hub: Hub | null;
  note: string;
}

const MEET_THE_SELLER: Delivery = { hub: null, note: "" };

function placeOf({ hub, note }: Delivery) {
  return { ...(hub && { hubId: hub.id }), ...(note.trim() && { deliveryNote: note.trim() }) };
}

/** The hub and the note of one vendor's order; `of` is the vendor's name where the purchase has several. */
function DeliveryOf(own: {
  vendorId: string;
  of: string;
  hubs: Hub[];
  delivery: Delivery;
  choose: (delivery: Delivery) => void;
}) {
  const { vendorId, of, hubs, delivery, choose } = own;
  const { hub, note } = delivery;
  const name = `hub-${vendorId}`;
  return (
    <fieldset class="panel">
      <legend>{of ? `${of}: where do you collect it?` : "Where do you collect it?"}</legend>
      <Choice
        name={name}
        label="Meet the seller"
        detail="Agree on a place after the payment"
        feeMinor={0}
        checked={hub === null}
        choose={() => choose({ ...delivery, hub: null })}
      />
      {hubs.map((one) => (
        <Choice
          key={one.id}
          name={name}
          label={one.name}
          detail={one.address}
          feeMinor={one.deliveryFeeMinor}
          checked={hub?.id === one.id}
          choose={() => choose({ ...delivery, hub: one })}
        />
      ))}
      <div class="field">
        <label for={`note-${vendorId}`}>{of ? `Note for ${of} (optional)` : "Note for the seller (optional)"}</label>
        <textarea
          id={`note-${vendorId}`}
          rows={2}
          maxLength={NOTE_CHARACTERS_MAX}
          value={note}
          onInput={(event) => choose({ ...delivery, note: event.currentTarget.value })}
        />
      </div>
    </fieldset>
  );
}

function Choice(choice: {
  name: string;
  label: string;
  detail: string;
  feeMinor: number;
  checked: boolean;
  choose: () => void;
}) {
  return (
    <label class="choice">
      <input type="radio" name={choice.name} checked={choice.checked} onChange={choice.choose} />
      <span>
        <b>{choice.label}</b>
        <span class="soft">{choice.detail}</span>
      </span>
      <span>{choice.feeMinor === 0 ? "free" : naira(choice.feeMinor)}</span>
    </label>
  );
}
