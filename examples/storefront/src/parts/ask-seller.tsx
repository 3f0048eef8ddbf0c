import { useLocation } from "preact-iso";

import { campus } from "../api.ts";
import { profile } from "../session.ts";
import { useAction } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

/** The way to the conversation about a product or an order; the API returns the one that exists. */
export function AskSeller({ about }: { about: { productId: string } | { orderId: string } }) {
  const { path, route } = useLocation();
  const ask = useAction(async () => {
    if (profile.value === null) return route(`/sign-in?next=${encodeURIComponent(path)}`);
    const { id } = await campus.conversations.open(about);
    route(`/messages/${id}`);
  });
  return (
    <>
      <button type="button" class="quiet" disabled={ask.busy} onClick={() => ask.run()}>
        Message the seller
      </button>
      <Problem error={ask.error} />
    </>
  );
}
