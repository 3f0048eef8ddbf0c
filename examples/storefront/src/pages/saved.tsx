import { campus } from "../api.ts";
import { Items } from "../parts/items.tsx";
import { Empty } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { useList } from "../use-list.ts";
import { Card } from "./browse.tsx";

/** The saved products and the followed sellers. */
export function Saved() {
  return <Page title="Saved">{<SignedIn>{() => <Contents />}</SignedIn>}</Page>;
}

function Contents() {
  const saved = useList((signal) => campus.savedProducts.list({ limit: 20 }, { signal }), []);
  const followed = useList((signal) => campus.followedVendors.list({ limit: 20 }, { signal }), []);
  return (
    <>
      <h2>Products</h2>
      <Items
        of={saved}
        style="grid"
        empty={
          <Empty title="No saved products">
            <p>Save one on its page: you hear from us when it is back in stock or its price drops.</p>
          </Empty>
        }
      >
        {({ productId, product }) =>
          product ? (
            <Card key={productId} product={product} />
          ) : (
            <li key={productId} class="panel soft">
              A product that is not sold any more
            </li>
          )
        }
      </Items>
      <h2>Sellers</h2>
      <Items of={followed} style="followed" empty={<p class="soft">You follow no seller.</p>}>
        {({ vendorId, businessName }) => (
          <li key={vendorId}>
            <a href={`/vendors/${vendorId}`}>{businessName}</a>
          </li>
        )}
      </Items>
    </>
  );
}
