// A purchase with the client of @hey-api/openapi-ts: sign in, browse, check out, pay, verify the delivery, list.
// BASE_URL, SANDBOX_URL and DEMO_PASSWORD name the running system. An unexpected response ends the story.
import { createClient, type Client } from "./hey-api/client";
import * as sdk from "./hey-api";

declare const process: { env: Record<string, string | undefined> };

const WAIT_MS_MAX = 60_000;

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
}

/** The `data` of a successful response; anything else ends the story. */
function expected<T>(response: { data?: { data: T }; error?: unknown }): T {
  if (!response.data) throw new Error(`Unexpected response: ${JSON.stringify(response.error)}`);
  return response.data.data;
}

/** The first result that is not null; services receive an order by message. */
async function until<T>(probe: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const found = await probe();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`Not within ${WAIT_MS_MAX} ms: ${probe}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function signedIn(email: string): Promise<Client> {
  const visitor = createClient({ baseUrl: setting("BASE_URL") });
  const body = { email, password: setting("DEMO_PASSWORD") };
  const { accessToken } = expected(await sdk.authLogin({ client: visitor, body }));
  return createClient({ baseUrl: setting("BASE_URL"), auth: accessToken });
}

const key = () => ({ "Idempotency-Key": crypto.randomUUID() });
const buyer = await signedIn("buyer@unilag.edu.ng");
const vendor = await signedIn("vendor@unilag.edu.ng");

const catalog = expected(await sdk.productsList({ client: buyer, query: { q: "rice", inStock: true } }));
const product = catalog.find((one) => one.vendorName === "Ada's Kitchen");
if (!product) throw new Error("The catalog has no rice of Ada's Kitchen.");
console.log(`product ${product.name}: ${product.priceMinor} kobo`);

const basket = { items: [{ productId: product.id, quantity: 1 }] };
const order = expected(await sdk.ordersCheckout({ client: buyer, body: basket, headers: key() }));
console.log(`order ${order.number}: ${order.status}`);

const intent = await until(async () => {
  const response = await sdk.paymentsCreateIntent({ client: buyer, body: { orderId: order.id }, headers: key() });
  return response.response?.status === 404 ? null : expected(response);
});
const paid = await fetch(`${setting("SANDBOX_URL")}/pay/${intent.accessCode}`, {
  method: "POST",
  headers: { Accept: "application/json" },
  body: new URLSearchParams({ action: "pay" }),
});
if (!paid.ok) throw new Error(`The payment failed: ${paid.status}`);
const held = await until(async () => {
  const current = expected(await sdk.ordersGet({ client: buyer, path: { order_id: order.id } }));
  return current.status === "paid_escrow" ? current : null;
});
console.log(`order ${order.number}: ${held.status}`);

expected(await sdk.ordersDispatch({ client: vendor, path: { order_id: order.id } }));
const { pin } = expected(await sdk.ordersGetDeliveryPin({ client: buyer, path: { order_id: order.id } }));
const delivered = expected(
  await sdk.ordersVerifyDelivery({ client: vendor, path: { order_id: order.id }, body: { pin }, headers: key() }),
);
console.log(`order ${order.number}: ${delivered.status}`);

const orders = expected(await sdk.ordersList({ client: buyer, query: { limit: 100 } }));
if (!orders.some((one) => one.id === order.id)) throw new Error("The order is not in the list of orders.");
