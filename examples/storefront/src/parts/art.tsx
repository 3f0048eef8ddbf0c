import type { Product } from "campus-client";
import { useState } from "preact/hooks";

import { API_URL } from "../api.ts";
import { Icon, isIcon } from "./icon.tsx";

/**
 * The image of a product on the drawing of its category. The drawing is part of the page, so that a slow line shows a complete
 * page at once; the image covers it when it arrives.
 */
export function Art({
  product,
  large = false,
}: {
  product: Pick<Product, "category" | "images" | "name">;
  large?: boolean;
}) {
  const image = product.images[0];
  const known = isIcon(product.category) ? product.category : "other";
  return (
    <div class={`art art-${known}`}>
      <Icon name={known} />
      {image !== undefined && (
        <img
          src={`${addressOf(image)}${large ? "" : "/thumbnail"}`}
          alt={large ? product.name : ""}
          loading="lazy"
          decoding="async"
          width={large ? 640 : 320}
          height={large ? 480 : 240}
        />
      )}
    </div>
  );
}

/** All photos of a product: one of them large, and a button for each of several. `first` is the id of the one to start with. */
export function Gallery({ product, first }: { product: Product; first: string | null }) {
  const { images } = product;
  const [shown, show] = useState(images.find((image) => first && image.includes(first)) ?? images[0]);
  return (
    <div class="gallery">
      <Art product={{ ...product, images: shown === undefined ? [] : [shown] }} large />
      {images.length > 1 && (
        <div class="photos" role="group" aria-label="Photos">
          {images.map((image, index) => (
            <button
              key={image}
              type="button"
              aria-label={`Photo ${index + 1} of ${images.length}`}
              aria-pressed={image === shown}
              onClick={() => show(image)}
            >
              <img src={`${addressOf(image)}/thumbnail`} alt="" loading="lazy" decoding="async" width={72} height={54} />
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** An image's address at the API as this build reaches it: the policy of the page allows that origin only. */
function addressOf(image: string): string {
  return API_URL + new URL(image, API_URL).pathname;
}
