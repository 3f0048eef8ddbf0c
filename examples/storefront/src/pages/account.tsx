import { useLocation } from "preact-iso";

import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/problem.tsx";
import { SignedIn } from "../parts/signed-in.tsx";
import { signOut } from "../session.ts";
import { useAction } from "../use-resource.ts";

export function Account() {
  const { route } = useLocation();
  const leave = useAction(async () => {
    await signOut();
    route("/");
  });
  return (
    <Page title="Account">
      <SignedIn>
        {(buyer) => (
          <section class="panel">
            <dl class="facts">
              <dt>Name</dt>
              <dd>{buyer.fullName ?? "not given"}</dd>
              <dt>Mail address</dt>
              <dd>{buyer.email}</dd>
              <dt>Phone</dt>
              <dd>{buyer.phone ?? "not given: the PIN of an order is on its page"}</dd>
            </dl>
            <p>
              <a href="/orders">My orders</a> · <a href="/balance">My balance</a> · <a href="/saved">Saved</a> ·{" "}
              <a href="/messages">Messages</a> · <a href="/tickets">Questions to our staff</a>
            </p>
            <Problem error={leave.error} />
            <button type="button" class="quiet" disabled={leave.busy} onClick={() => leave.run()}>
              Sign out
            </button>
          </section>
        )}
      </SignedIn>
    </Page>
  );
}
