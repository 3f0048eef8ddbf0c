import type { ComponentChildren } from "preact";

import type { Action } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

interface Props {
  send: Action<[HTMLFormElement]>;
  button: string;
  /** What stands below the button: other ways. */
  below?: ComponentChildren;
  children: ComponentChildren;
}

/** A form of the account's pages with its one button. */
export function AccountForm({ send, button, below, children }: Props) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.run(event.currentTarget as HTMLFormElement);
  };
  return (
    <form class="panel" onSubmit={submit}>
      {children}
      <Problem error={send.error} />
      <button class="main wide" disabled={send.busy}>
        {button}
      </button>
      {below}
    </form>
  );
}
