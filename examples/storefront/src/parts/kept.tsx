import { campus } from "../api.ts";
import { Toggle } from "./toggle.tsx";

/** The API has no look-up of one entry; a list has at most 500. */
async function isIn<T>(list: AsyncIterable<T>, isIt: (entry: T) => boolean): Promise<boolean> {
  for await (const entry of list) if (isIt(entry)) return true;
  return false;
}

/** Save a product: the buyer is notified when it is back in stock or its price drops. */
export function SaveProduct({ id }: { id: string }) {
  return (
    <Toggle
      labels={["Save for later", "Saved: remove"]}
      isOn={(signal) =>
        isIn(campus.savedProducts.list({ limit: 100 }, { signal }), ({ productId }) => productId === id)
      }
      set={(on) => (on ? campus.savedProducts.save(id) : campus.savedProducts.remove(id))}
    />
  );
}

export function FollowVendor({ id }: { id: string }) {
  return (
    <Toggle
      labels={["Follow", "Unfollow"]}
      isOn={(signal) =>
        isIn(campus.followedVendors.list({ limit: 100 }, { signal }), ({ vendorId }) => vendorId === id)
      }
      set={(on) => (on ? campus.followedVendors.follow(id) : campus.followedVendors.unfollow(id))}
    />
  );
}
