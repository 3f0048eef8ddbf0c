import type { Product, ProductVariant } from "campus-client";
import { useLocation, useRoute } from "preact-iso";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { Absence } from "../parts/absence.tsx";
import { Gallery } from "../parts/art.tsx";
import { AskSeller } from "../parts/ask-seller.tsx";
import { Icon } from "../parts/icon.tsx";
import { SaveProduct } from "../parts/kept.tsx";
import { Empty, Loaded } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { Quantity } from "../parts/quantity.tsx";
import { Rating } from "../parts/rating.tsx";
import { Report } from "../parts/report.tsx";
import { VariantChoice, variantOf } from "../parts/variant-choice.tsx";
import { cart, keepLine, profile, quantityOf } from "../session.ts";
import { when } from "../times.ts";
import { useAction, useResource } from "../use-resource.ts";
import { CONDITIONS, Price } from "./browse.tsx";

export function ProductPage() {
  const id = useRoute().params["id"]!;
  const product = useResource((signal) => campus.products.get(id, { signal }), [id]);
  return (
    <Page title={product.data?.name ?? "Product"} class="product">
      <Loaded from={product}>
        {(found) => <Contents product={found} />}
      </Loaded>
    </Page>
  );
}

function Contents({ product }: { product: Product }) {
  const [chosen, choose] = useState(useLocation().query["variant"]);
  const variant = variantOf(product, chosen);
  return (
    <>
      <Gallery key={variant?.imageId} product={product} first={variant?.imageId ?? null} />
      <div class="product-text">
        <Price product={variant ?? product} />
        <p class="soft">
          <a href={`/vendors/${product.vendorId}`}>{product.vendorName}</a> ·{" "}
          <span class="category">{product.category.replaceAll("-", " ")}</span> · {CONDITIONS[product.condition]}
        </p>
        <Rating rating={product.rating} count={product.ratingCount} />
        <p class="description">{product.description}</p>
        {variant && <VariantChoice product={product} chosen={variant} choose={({ id }) => choose(id)} />}
        <AddToCart key={variant?.id} product={product} variant={variant} />
        <SaveProduct id={product.id} />
        <AskSeller about={{ productId: product.id }} />
        <p class="assurance">
          <Icon name="lock" />
          Paid into escrow. The seller is paid after you give your delivery PIN.
        </p>
      </div>
      <Reviews productId={product.id} />
      <Report subject={{ kind: "product", id: product.id }} title="Report this product" />
    </>
  );
}

function AddToCart({ product, variant }: { product: Product; variant: ProductVariant | null }) {
  const { path, route } = useLocation();
  const [quantity, setQuantity] = useState(1);
  const variantId = variant?.id ?? null;
  const { stock } = variant ?? product;
  const inCart = quantityOf(product.id, variantId);
  const add = useAction(async () => {
    if (profile.value === null) {
      keepLine({ productId: product.id, variantId, quantity });
      return route(`/sign-in?next=${encodeURIComponent(variant ? `${path}?variant=${variant.id}` : path)}`);
    }
    cart.value = await campus.carts.setItem(product.id, { quantity: Math.min(inCart + quantity, 99), variantId });
  });
  if (product.vendorAway) return <Absence of={product.vendorAway} />;
  if (stock === 0) return <p class="notice">Sold out. Look again later.</p>;
  return (
    <>
      {variant && <p class="soft">{stock} left</p>}
      <div class="buy">
        <Quantity label="Quantity" value={quantity} max={stock} onChange={setQuantity} />
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
                  <p class="text">{review.text}</p>
                  <p class="soft">{when(review.createdAt)}</p>
                  {review.reply && (
                    <p class="reply">
                      <b>The seller replied:</b> {review.reply.text}
                    </p>
                  )}
                  <Report subject={{ kind: "review", id: review.id }} title="Report this review" />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
