import { useId } from "preact/hooks";

import { textOf } from "./field.tsx";

/** Where the buyer wants a refund to go; `refundToOf` reads it from the form. */
export function RefundTo() {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Where does a refund go?</label>
      <select id={id} name="refundTo">
        <option value="">Back to where it came from</option>
        <option value="balance">To my balance, for later orders</option>
      </select>
    </div>
  );
}

export function refundToOf(form: HTMLFormElement): { refundTo?: "balance" } {
  return textOf(form, "refundTo") === "balance" ? { refundTo: "balance" } : {};
}
