// The purchase of a new student, from the sign-up to the review, by the public interface of the package only. It runs in
// Node and in a browser: no import but the package.
import {
  Campus,
  type ClientOptions,
  DeliveryPinInvalidError,
  imageOf,
  memoryStore,
  newIdempotencyKey,
  type Order,
  type Product,
  ResourceNotFoundError,
  type schemas,
} from "campus-client";

/** What the story needs besides the API. */
export interface Surroundings {
  baseUrl: string;
  /** The password of the demo accounts. */
  password: string;
  /** The code of the last mail to an address. */
  codeFor(email: string): Promise<string>;
  /** Pays on the page of the sandbox's payment gateway. */
  pay(accessCode: string): Promise<void>;
  /** A photo of a phone, as a user of this runtime has it. */
  photo(): Promise<Blob>;
}

export interface StoryResult {
  buyer: Campus;
  vendor: Campus;
  delivered: Order;
  disputed: Order;
}

/** Plays the story. Throws at the first step that goes another way. */
export async function playStory(surroundings: Surroundings): Promise<StoryResult> {
  const { baseUrl, password } = surroundings;
  const network = unreliable();
  const buyer = new Campus({ baseUrl, fetch: network.fetch });
  await signUp(buyer, surroundings);
  const vendor = new Campus({ baseUrl });
  await vendor.signIn("vendor@unilag.edu.ng", password);

  const product = await browse(vendor);
  const feed = follow(buyer);
  await feed.opened;

  // The response is lost after the order was placed: the second attempt gets the first one's response.
  network.loseNextResponse();
  const key = newIdempotencyKey();
  const placing = buyer.orders.checkout({ items: [{ productId: product.id, quantity: 1 }] }, { idempotencyKey: key });
  const { data: order, headers } = await placing.withResponse();
  check(headers.get("X-Cache-Lookup") === "HIT", "the repeated checkout is the first one's response");
  await pay(buyer, order, surroundings);
  const pinReady = await feed.until((event) => event.data.template === "delivery_pin_ready");
  check(
    pinReady.data.subject?.orderId === order.id || pinReady.data.subject?.id === order.id,
    "the event names its order",
  );
  feed.close();

  check((await buyer.orders.get(order.id)).status === "paid_escrow", "the order is paid");
  check((await vendor.orders.dispatch(order.id)).status === "dispatched", "the order is dispatched");
  const later = follow(buyer, pinReady.id);
  await later.until((event) => event.data.template === "order_dispatched");

  const { pin } = await buyer.orders.getDeliveryPin(order.id);
  const wrong = pin === "000000" ? "000001" : "000000";
  const mistake = await vendor.orders.verifyDelivery(order.id, { pin: wrong }).catch((error: unknown) => error);
  check(
    mistake instanceof DeliveryPinInvalidError && mistake.problem.attemptsRemaining === 4,
    "a wrong PIN is counted",
  );
  check((await vendor.orders.verifyDelivery(order.id, { pin })).status === "delivered", "the order is delivered");
  await later.until((event) => event.data.template === "order_delivered");
  later.close();

  const review = await buyer.reviews.createForProduct(product.id, {
    orderId: order.id,
    rating: 5,
    text: "Still warm.",
  });
  const reviews = await buyer.reviews.listByProduct(product.id, { limit: 1 });
  check(reviews.items[0]?.id === review.id && reviews.meta.ratingCount > 0, "the review is published");

  const disputed = await dispute(buyer, vendor, product, surroundings, network.loseNextResponse);
  await refreshOnce(buyer);
  const placed = [];
  for await (const one of buyer.orders.list({ as: "buyer", limit: 1 })) placed.push(one.id);
  check(placed.join() === [disputed.id, order.id].join(), "each order is listed once, newest first");
  return { buyer, vendor, delivered: order, disputed };
}

async function signUp(buyer: Campus, { password, codeFor }: Surroundings): Promise<void> {
  const email = `ts.${newIdempotencyKey()}@student.unilag.edu.ng`;
  const phone = `+234806${String(Math.floor(Math.random() * 1e7)).padStart(7, "0")}`;
  await buyer.auth.signUp({ email, password, fullName: "Tobi Alabi", phone });
  await buyer.signInWithCode({ email, code: await codeFor(email), password });
  const profile = await buyer.profiles.getCurrent();
  check(profile.email === email && profile.emailConfirmed, "the address is proven");
  const campus: schemas.Campus = await buyer.campuses.get(profile.campusId ?? "");
  check(campus.name.length > 0, "the campus follows from the address");
}

/** A product of the demo vendor, found as an anonymous visitor. */
async function browse(vendor: Campus): Promise<Product> {
  const { vendorId } = await vendor.profiles.getCurrent();
  await vendor.categories.list();
  for await (const product of vendor.products.list({ vendorId: vendorId ?? "", inStock: true, limit: 5 })) {
    if (product.priceMinor >= 100_000) return product;
  }
  throw new Error("The demo vendor has no product in stock: `make demo` and the tests have bought everything.");
}

async function pay(buyer: Campus, order: Order, surroundings: Surroundings): Promise<void> {
  const intent = await until(async () => {
    try {
      return await buyer.payments.createIntent({ orderId: order.id });
    } catch (error) {
      // Payments has not received the order yet (contract section 7).
      if (error instanceof ResourceNotFoundError) return undefined;
      throw error;
    }
  });
  check(intent.amountMinor === order.totalMinor, "the intent has the order's total");
  await surroundings.pay(intent.accessCode ?? "");
}

async function dispute(
  buyer: Campus,
  vendor: Campus,
  product: Product,
  surroundings: Surroundings,
  loseNextResponse: () => void,
): Promise<Order> {
  const feed = follow(buyer);
  await feed.opened;
  const order = await buyer.orders.checkout({ items: [{ productId: product.id, quantity: 1 }] });
  await pay(buyer, order, surroundings);
  await feed.until((event) => event.data.template === "delivery_pin_ready" && JSON.stringify(event).includes(order.id));
  feed.close();
  const disputed = await buyer.disputes.open(order.id, { reason: "Another item", details: "I ordered rice." });
  check(disputed.status === "disputed", "the order is disputed");
  const photo = await surroundings.photo();
  loseNextResponse();
  const evidence = await buyer.disputes.addEvidence(order.id, photo);
  check((await buyer.disputes.listEvidence(order.id)).length === 1, "a repeated upload has one effect");
  const stored = await vendor.disputes.getEvidence(order.id, evidence.id);
  check((await imageOf(stored)).type === "image/webp", "the vendor sees the image");
  return disputed;
}

/** An access token that is no longer accepted: all calls go on, after one refresh. */
async function refreshOnce(buyer: Campus): Promise<void> {
  const before = await buyer.getTokens();
  await buyer.setTokens(before && { ...before, accessToken: `${before.accessToken.slice(0, -8)}AAAAAAAA` });
  await Promise.all([buyer.profiles.getCurrent(), buyer.orders.list(), buyer.notifications.countUnread()]);
  const after = await buyer.getTokens();
  check(after !== null && after.refreshToken !== before?.refreshToken, "the tokens were refreshed");
  const other = new Campus({ baseUrl: "", tokens: memoryStore(after) });
  check((await other.getTokens())?.accessToken === after?.accessToken, "the store has the new pair");
}

type FeedEvent = Awaited<ReturnType<ReturnType<Campus["notifications"]["stream"]>["next"]>>["value"] & object;

/** The live events of a user. `until` returns the first one, present or future, that passes. */
function follow(
  campus: Campus,
  lastEventId?: string,
): { opened: Promise<void>; until: (passes: (event: FeedEvent) => boolean) => Promise<FeedEvent>; close: () => void } {
  const controller = new AbortController();
  const seen: FeedEvent[] = [];
  let failure: unknown;
  let onOpen = (): void => {};
  const opened = new Promise<void>((resolve) => {
    onOpen = resolve;
  });
  const reading = (async () => {
    for await (const event of campus.notifications.stream({ signal: controller.signal, lastEventId, onOpen })) {
      seen.push(event);
    }
  })();
  reading.catch((error: unknown) => {
    failure = error;
  });
  return {
    opened,
    until: (passes) =>
      until(() => {
        if (failure !== undefined) throw failure;
        return Promise.resolve(seen.find(passes));
      }),
    close: () => {
      controller.abort();
    },
  };
}

/** A network that loses a response after the server has sent it. */
function unreliable(): { fetch: NonNullable<ClientOptions["fetch"]>; loseNextResponse: () => void } {
  let isLosing = false;
  return {
    loseNextResponse: () => {
      isLosing = true;
    },
    fetch: async (input, init) => {
      const isLost = isLosing && init?.method === "POST";
      if (isLost) isLosing = false;
      const response = await fetch(input, init);
      if (isLost) throw new TypeError("connection lost");
      return response;
    },
  };
}

/** The first result of a probe that is not undefined. */
export async function until<Found>(probe: () => Promise<Found | undefined>): Promise<Found> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await probe();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`Not within 60 s: ${String(probe)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function check(condition: boolean, promise: string): asserts condition {
  if (!condition) throw new Error(`Not true: ${promise}.`);
}
