import { shrinkImage, type DisputeEvidence, type Order } from "campus-client";
import { useEffect, useState } from "preact/hooks";

import { campus } from "../api.ts";
import { textOf } from "../parts/field.tsx";
import { Loaded } from "../parts/loading.tsx";
import { Problem } from "../parts/problem.tsx";
import { when } from "../times.ts";
import { useAction, useResource } from "../use-resource.ts";

const REASONS = {
  not_received: "It did not arrive",
  not_as_described: "It is not what was described",
  damaged: "It is damaged",
  other: "Something else",
} as const;
const IMAGES_MAX = 6;
const IMAGE_TYPES = "image/jpeg,image/png,image/webp";

/** The form that freezes the money. Images can follow, so a failed upload loses nothing. */
export function OpenDispute({ order, opened }: { order: Order; opened: (order: Order) => void }) {
  const open = useAction(async (form: HTMLFormElement) => {
    const image = new FormData(form).get("image");
    const disputed = await campus.disputes.open(order.id, { reason: textOf(form, "reason"), details: textOf(form, "details") });
    try {
      if (image instanceof File && image.size > 0) await campus.disputes.addEvidence(order.id, await shrinkImage(image));
    } finally {
      opened(disputed);
    }
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    open.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <details class="panel">
      <summary>Something is wrong</summary>
      <form onSubmit={submit}>
        <p>Your money is frozen, and our staff decide. The seller reads what you write here.</p>
        <div class="field">
          <label for="reason">What happened?</label>
          <select id="reason" name="reason">
            {Object.entries(REASONS).map(([reason, text]) => (
              <option key={reason} value={reason}>
                {text}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for="details">Describe it</label>
          <textarea id="details" name="details" rows={4} required maxLength={4000} />
        </div>
        <div class="field">
          <label for="image">Photo (optional)</label>
          <input id="image" name="image" type="file" accept={IMAGE_TYPES} />
        </div>
        <Problem error={open.error} />
        <button class="danger" disabled={open.busy}>
          {open.busy ? "Sending …" : "Open a dispute"}
        </button>
      </form>
    </details>
  );
}

/** An open dispute with the images of both sides. */
export function Dispute({ order }: { order: Order }) {
  const dispute = useResource((signal) => campus.disputes.get(order.id, { signal }), [order.id, order.revision]);
  const add = useAction(async (image: File) => {
    await campus.disputes.addEvidence(order.id, await shrinkImage(image));
    dispute.reload();
  });
  const choose = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const image = input.files?.[0];
    if (image) add.run(image);
    input.value = "";
  };
  return (
    <section class="panel" aria-label="Dispute">
      <h2>The dispute</h2>
      <Loaded from={dispute}>
        {({ reason, details, raisedAt, evidence }) => (
          <>
            <p>
              <b>{REASONS[reason as keyof typeof REASONS] ?? reason}</b> · <span class="soft">{when(raisedAt)}</span>
            </p>
            <p class="description">{details}</p>
            <ul class="evidence">
              {evidence.map((one) => (
                <Evidence key={one.id} orderId={order.id} evidence={one} />
              ))}
            </ul>
            <Problem error={add.error} />
            {evidence.filter((one) => one.author === "buyer").length < IMAGES_MAX && (
              <div class="field">
                <label for="more">Add a photo</label>
                <input id="more" type="file" accept={IMAGE_TYPES} disabled={add.busy} onChange={choose} />
              </div>
            )}
            <p role="status">{add.busy && "Uploading …"}</p>
          </>
        )}
      </Loaded>
    </section>
  );
}

/** An image that only the parties may read: it has no public address, so it is fetched with the token. */
function Evidence({ orderId, evidence }: { orderId: string; evidence: DisputeEvidence }) {
  const image = useResource((signal) => campus.disputes.getEvidence(orderId, evidence.id, { signal }), [evidence.id]);
  const [address, setAddress] = useState("");
  useEffect(() => {
    if (!image.data) return;
    const created = URL.createObjectURL(image.data);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [image.data]);
  return (
    <li>
      <Problem error={image.error} retry={image.reload} />
      {address && <img src={address} alt={`From the ${evidence.author === "buyer" ? "buyer" : "seller"}, ${when(evidence.createdAt)}`} />}
    </li>
  );
}
