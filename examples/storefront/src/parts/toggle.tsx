import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";

import { profile } from "../session.ts";
import { useAction, useResource } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

interface ToggleProps {
  /** The texts while it is off, and while it is on. */
  labels: [string, string];
  isOn: (signal: AbortSignal) => Promise<boolean>;
  set: (on: boolean) => PromiseLike<unknown>;
}

/** A button that keeps something for the buyer, such as a saved product. */
export function Toggle({ labels, isOn, set }: ToggleProps) {
  const { path, route } = useLocation();
  const isBuyer = Boolean(profile.value);
  const stored = useResource(async (signal) => isBuyer && isOn(signal), [isBuyer, path]);
  const [changed, setChanged] = useState<boolean | null>(null);
  const on = changed ?? stored.data ?? false;
  const toggle = useAction(async () => {
    if (!isBuyer) return route(`/sign-in?next=${encodeURIComponent(path)}`);
    await set(!on);
    setChanged(!on);
  });
  return (
    <>
      <Problem error={toggle.error} />
      <button type="button" class="quiet" disabled={toggle.busy} onClick={() => toggle.run()}>
        {labels[on ? 1 : 0]}
      </button>
    </>
  );
}
