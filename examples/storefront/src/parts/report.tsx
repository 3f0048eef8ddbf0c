import type { CreateReportRequest } from "campus-client";
import { useState } from "preact/hooks";

import { campus } from "../api.ts";
import { useKey } from "../use-key.ts";
import { useAction } from "../use-resource.ts";
import { Field, textOf } from "./field.tsx";
import { Problem } from "./problem.tsx";

/** The form that reports a product, a review or a seller to the staff. */
export function Report({ subject, title }: { subject: CreateReportRequest["subject"]; title: string }) {
  const keyOf = useKey();
  const [isSent, setSent] = useState(false);
  const send = useAction(async (form: HTMLFormElement) => {
    const body = { subject, reason: textOf(form, "reason") };
    await campus.reports.create(body, { idempotencyKey: keyOf(body) });
    setSent(true);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.run(event.currentTarget as HTMLFormElement);
  };
  if (isSent) {
    return (
      <p role="status" class="soft">
        Thank you. Our staff look at it.
      </p>
    );
  }
  return (
    <details class="report">
      <summary>{title}</summary>
      <form onSubmit={submit}>
        <Field label="What is wrong?" name="reason" required maxLength={500} />
        <Problem error={send.error} />
        <button disabled={send.busy}>Send the report</button>
      </form>
    </details>
  );
}
