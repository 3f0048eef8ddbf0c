import { ConcurrencyConflictError, type Order, type OrderItem } from "campus-client";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { keptItems } from "./items.tsx";
import { LongText, textOf } from "../parts/field.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAction } from "../use-resource.ts";

const RATINGS = [1, 2, 3, 4, 5] as const;

/** A review of each product of a delivered order. */
export function Reviews({ order }: { order: Order }) {
  return (
    <section class="panel" aria-label="Reviews">
      <h2>How was it?</h2>
      {productsOf(order).map((item) => (
        <ReviewForm key={item.productId} orderId={order.id} item={item} />
      ))}
    </section>
  );
}

/** The first item of each product: several variants of one share a review. */
function productsOf(order: Order): OrderItem[] {
  const items = keptItems(order);
  return items.filter(({ productId }, position) => items.findIndex((one) => one.productId === productId) === position);
}

function ReviewForm({ orderId, item }: { orderId: string; item: OrderItem }) {
  const [state, setState] = useState<"open" | "sent" | "earlier">("open");
  const send = useAction(async (form: HTMLFormElement) => {
    const rating = Number(textOf(form, "rating"));
    try {
      await campus.reviews.createForProduct(item.productId, { orderId, rating, text: textOf(form, "text") });
      setState("sent");
    } catch (error) {
      // One review for each order: this one was written earlier, or its answer was lost.
      if (!(error instanceof ConcurrencyConflictError)) throw error;
      setState("earlier");
    }
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.run(event.currentTarget as HTMLFormElement);
  };
  if (state !== "open") {
    return (
      <p class="thanks" role="status">
        <Icon name="check" /> {state === "sent" ? "Thank you for your review of" : "You have already reviewed"}{" "}
        {item.name}.
      </p>
    );
  }
  return (
    <form class="review" onSubmit={submit}>
      <fieldset class="stars">
        <legend>{item.name}</legend>
        {RATINGS.map((stars) => (
          <label key={stars}>
            <input type="radio" name="rating" value={stars} required />
            <span aria-hidden="true">★</span>
            <span class="visually-hidden">
              {stars} {stars === 1 ? "star" : "stars"}
            </span>
          </label>
        ))}
      </fieldset>
      <LongText label="Your review" name="text" rows={2} maxLength={2000} />
      <Problem error={send.error} />
      <button disabled={send.busy}>Send review</button>
    </form>
  );
}
