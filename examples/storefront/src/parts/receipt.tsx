import { campus } from "../api.ts";
import { useAction } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

/** The button that saves a receipt, which has no public address: it is fetched with the token. */
export function Receipt({ of, id, number }: { of: "orders" | "purchases"; id: string; number: string }) {
  const save = useAction(async () => {
    const address = URL.createObjectURL(await campus[of].getReceipt(id));
    const link = document.createElement("a");
    link.href = address;
    link.download = `receipt-${number}.pdf`;
    link.click();
    // The browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  });
  return (
    <>
      <Problem error={save.error} />
      <button type="button" class="link" disabled={save.busy} onClick={() => save.run()}>
        Save the receipt
      </button>
    </>
  );
}
