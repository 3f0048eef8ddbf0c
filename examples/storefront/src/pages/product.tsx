import type { Product } from "campus-client";
import { useLocation, useRoute } from "preact-iso";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { Art } from "../parts/art.tsx";
import { Icon } from "../parts/icon.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Quantity } from "../parts/quantity.tsx";
import { Rating } from "../parts/rating.tsx";
import { cart, profile } from "../session.ts";
import { when } from "../times.ts";
import { useAction, useResource } from "../use-resource.ts";
import { Price } from "./browse.tsx";

export function ProductPage() {
  const id = useRoute().params["id"]!;
  const product = useResource((signal) => campus.products.get(id, { signal }), [id]);
  return (
    <Page title={product.data?.name ?? "Product"} class="product">
      <Loaded from={product}>
        {(found) => (
          <>
            <Art product={found} large />
            <div class="product-text">
              <Price product={found} />
              <p class="soft">
                {found.vendorName} · <span class="category">{found.category.replaceAll("-", " ")}</span>
              </p>
              <Rating rating={found.rating} count={found.ratingCount} />
              <p class="description">{found.description}</p>
              <AddToCart product={found} />
              <p class="assurance">
                <Icon name="lock" />
                Paid into escrow. The seller is paid after you give your delivery PIN.
              </p>
            </div>
            <Reviews productId={found.id} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function AddToCart({ product }: { product: Product }) {
  const { path, route } = useLocation();
  const [quantity, setQuantity] = useState(1);
  const inCart = cart.value?.items.find((item) => item.productId === product.id)?.quantity ?? 0;
  const add = useAction(async () => {
    if (profile.value === null) return route(`/sign-in?next=${encodeURIComponent(path)}`);
    cart.value = await campus.carts.setItem(product.id, { quantity: Math.min(inCart + quantity, 99) });
  });
  if (!product.inStock) return <p class="notice">Sold out. Look again later.</p>;
  return (
    <>
      <div class="buy">
        <Quantity label="Quantity" value={quantity} max={product.stock} onChange={setQuantity} />
        <button type="button" class="main" disabled={add.busy} onClick={() => add.run()}>
          Add to cart
        </button>
      </div>
      <Problem error={add.error} />
      <p class="in-cart" role="status">
        {inCart > 0 && (
          <>
            <Icon name="check" /> {inCart} in your cart. <a href="/cart">Go to the cart</a>
          </>
        )}
      </p>
    </>
  );
}

function Reviews({ productId }: { productId: string }) {
  const reviews = useResource(
    (signal) => campus.reviews.listByProduct(productId, { limit: 20 }, { signal }),
    [productId],
  );
  return (
    <section class="reviews" aria-labelledby="reviews">
      <h2 id="reviews">Reviews</h2>
      <Loaded from={reviews}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No reviews yet">
              <p>Buyers can write one after the delivery.</p>
            </Empty>
          ) : (
            <ul>
              {items.map((review) => (
                <li key={review.id}>
                  <Rating rating={review.rating} />
                  <p>{review.text}</p>
                  <p class="soft">{when(review.createdAt)}</p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
