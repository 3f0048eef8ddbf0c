import type { Order, OrderItem } from "campus-client";

export function ItemText({ item }: { item: OrderItem }) {
  const text = (
    <>
      {item.quantity} × <bdi>{item.name}</bdi>
    </>
  );
  return (
    <span>
      {item.cancelledAt ? (
        <>
          <s>{text}</s> <small>cancelled</small>
        </>
      ) : (
        text
      )}
    </span>
  );
}

export function itemsText({ items }: Order): string {
  return items
    .map((item) => `${item.quantity} × ${item.name}${item.cancelledAt ? " (cancelled)" : ""}`)
    .join(", ");
}

/** The items that the buyer gets, or got. */
export function keptItems({ items }: Order): OrderItem[] {
  return items.filter((item) => !item.cancelledAt);
}
