import { shrinkImage, type Dispute as DisputeOfOrder, type Order } from "campus-client";

import { campus } from "../api.ts";
import { Choice, LongText, textOf } from "../parts/field.tsx";
import { Loaded } from "../parts/loading.tsx";
import { Photos } from "../parts/photos.tsx";
import { IMAGE_TYPES } from "../parts/private-image.tsx";
import { Problem } from "../parts/problem.tsx";
import { RefundTo, refundToOf } from "../parts/refund-to.tsx";
import { when } from "../times.ts";
import { useAction, useResource, type Action, type Resource } from "../use-resource.ts";

const REASONS = {
  not_received: "It did not arrive",
  not_as_described: "It is not what was described",
  damaged: "It is damaged",
  other: "Something else",
} as const;
const IMAGES_MAX = 6;

/** The form that opens a dispute; once it is open, its text and the images of both sides. */
export function Dispute({ order, opened }: { order: Order; opened: (order: Order) => void }) {
  const isOpen = order.status === "disputed";
  const dispute = useResource(
    async (signal) => (isOpen ? campus.disputes.get(order.id, { signal }) : undefined),
    [order.id, isOpen],
  );
  const upload = useAction(async (image: File) => {
    await campus.disputes.addEvidence(order.id, await shrinkImage(image));
    dispute.reload();
  });
  const open = useAction(async (form: HTMLFormElement) => {
    const image = new FormData(form).get("image");
    const complaint = { reason: textOf(form, "reason"), details: textOf(form, "details"), ...refundToOf(form) };
    opened(await campus.disputes.open(order.id, complaint));
    // After the dispute, which the API accepts images for. A failed upload leaves it open and can be repeated.
    if (image instanceof File && image.size > 0) upload.run(image);
  });
  return isOpen ? <OpenDispute order={order} dispute={dispute} upload={upload} /> : <DisputeForm open={open} />;
}

function DisputeForm({ open }: { open: Action<[HTMLFormElement]> }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    open.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <details class="panel">
      <summary>Something is wrong</summary>
      <form onSubmit={submit}>
        <p>Your money is frozen, and our staff decide. The seller reads what you write here.</p>
        <Choice label="What happened?" name="reason" options={Object.entries(REASONS)} />
        <LongText label="Describe it" name="details" rows={4} maxLength={4000} />
        <div class="field">
          <label for="image">Photo (optional)</label>
          <input id="image" name="image" type="file" accept={IMAGE_TYPES} />
        </div>
        <RefundTo />
        <Problem error={open.error} />
        <button class="danger" disabled={open.busy}>
          {open.busy ? "Sending …" : "Open a dispute"}
        </button>
      </form>
    </details>
  );
}

interface OpenDisputeProps {
  order: Order;
  dispute: Resource<DisputeOfOrder | undefined>;
  upload: Action<[File]>;
}

function OpenDispute({ order, dispute, upload }: OpenDisputeProps) {
  return (
    <section class="panel" aria-label="Dispute">
      <h2>The dispute</h2>
      <Loaded from={dispute}>
        {(opened) => (
          <>
            <p>
              <b>{REASONS[opened.reason as keyof typeof REASONS] ?? opened.reason}</b> ·{" "}
              <span class="soft">{when(opened.raisedAt)}</span>
            </p>
            <p class="description">{opened.details}</p>
            {opened.refundTo === "balance" && <p class="soft">A refund goes to your balance.</p>}
            <Photos
              photos={opened.evidence.map((one) => ({ ...one, from: one.author === "buyer" ? "the buyer" : "the seller" }))}
              load={(id, signal) => campus.disputes.getEvidence(order.id, id, { signal })}
              upload={upload}
              mayAdd={opened.evidence.filter((one) => one.author === "buyer").length < IMAGES_MAX}
            />
          </>
        )}
      </Loaded>
    </section>
  );
}
