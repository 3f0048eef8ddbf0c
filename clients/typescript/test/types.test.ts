// Compiled, and run only to see that the classes exist: what the compiler must accept and refuse.
import { test } from "node:test";
import { Campus, connect, type Order, OrdersResource, type schemas } from "campus-client";

const campus = new Campus({ baseUrl: "http://127.0.0.1:9" });

export async function accepted(): Promise<string> {
  const order: Order = await campus.orders.checkout({ items: [{ productId: "p", quantity: 1 }] });
  const campusOfUser: schemas.Campus = await campus.campuses.get("c");
  const only = connect({ baseUrl: "" }, { orders: OrdersResource });
  await only.orders.cancel(order.id, { reason: "Ordered twice" });
  const number: number = order.totalMinor;
  return `${campusOfUser.name} ${String(number)}`;
}

export async function refused(): Promise<void> {
  // @ts-expect-error an unknown status
  await campus.orders.list({ status: "lost" });
  // @ts-expect-error an unknown filter
  await campus.orders.list({ colour: "red" });
  // @ts-expect-error a missing field
  await campus.orders.verifyDelivery("o", {});
  // @ts-expect-error a missing body
  await campus.orders.checkout();
  // @ts-expect-error a key where none is accepted
  await campus.auth.login({ email: "", password: "" }, { idempotencyKey: "" });
  const only = connect({ baseUrl: "" }, { orders: OrdersResource });
  // @ts-expect-error a resource that was not named
  await only.payouts.list();
  for await (const event of campus.assistant.stream({ message: "?" })) {
    // @ts-expect-error the data of `done` has no text
    if (event.event === "done") event.data.text.trim();
  }
}

test("the types hold", () => {
  void accepted;
  void refused;
});
