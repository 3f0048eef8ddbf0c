import type { Vendor } from "campus-client";
import { useRoute } from "preact-iso";

import { campus } from "../api.ts";
import { Absence } from "../parts/absence.tsx";
import { FollowVendor } from "../parts/kept.tsx";
import { Items } from "../parts/items.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { OpeningHours } from "../parts/opening-hours.tsx";
import { Page } from "../parts/page.tsx";
import { Report } from "../parts/report.tsx";
import { useList } from "../use-list.ts";
import { useResource } from "../use-resource.ts";
import { Card } from "./browse.tsx";

/** A seller with the opening hours and the products. */
export function VendorPage() {
  const id = useRoute().params["id"]!;
  const vendor = useResource((signal) => campus.vendors.get(id, { signal }), [id]);
  const products = useList((signal) => campus.products.list({ vendorId: id, limit: 20 }, { signal }), [id]);
  return (
    <Page title={vendor.data?.businessName ?? "Seller"}>
      <Loaded from={vendor}>{(found) => <About vendor={found} />}</Loaded>
      <Items
        of={products}
        style="grid"
        empty={
          <Empty title="Nothing for sale at the moment">
            <a href="/">See all products</a>
          </Empty>
        }
      >
        {(product) => <Card key={product.id} product={product} />}
      </Items>
    </Page>
  );
}

function About({ vendor }: { vendor: Vendor }) {
  return (
    <section class="panel" aria-label="About the seller">
      {vendor.description && <p class="description">{vendor.description}</p>}
      {vendor.away && <Absence of={vendor.away} />}
      <OpeningHours periods={vendor.openingHours} />
      <FollowVendor id={vendor.id} />
      <Report subject={{ kind: "vendor", id: vendor.id }} title="Report this seller" />
    </section>
  );
}
