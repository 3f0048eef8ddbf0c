import { Choice, textOf } from "./field.tsx";

/** Where the buyer wants a refund to go; `refundToOf` reads it from the form. */
export function RefundTo() {
  return (
    <Choice
      label="Where does a refund go?"
      name="refundTo"
      options={[
        ["", "Back to where it came from"],
        ["balance", "To my balance, for later orders"],
      ]}
    />
  );
}

export function refundToOf(form: HTMLFormElement): { refundTo?: "balance" } {
  return textOf(form, "refundTo") === "balance" ? { refundTo: "balance" } : {};
}
