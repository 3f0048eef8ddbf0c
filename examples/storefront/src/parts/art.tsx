import type { Product } from "campus-client";

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

/** An image's address at the API as this build reaches it: the policy of the page allows that origin only. */
function addressOf(image: string): string {
  return API_URL + new URL(image, API_URL).pathname;
}
